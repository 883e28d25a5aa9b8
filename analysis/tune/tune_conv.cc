// SPDX-License-Identifier: Apache-2.0
// octet_tune_conv2d: measures the choices for a convolution.
#include "analysis/tune/conv_choices.h"
#include "analysis/tune/target.h"
#include "dispatch/tables/tiers.h"
#include "operators/common/blob.h"
#include "operators/common/check.h"
#include "operators/conv/algorithms/table.h"
#include "operators/conv/machine.h"
#include "operators/conv/shape.h"
#include "operators/conv/tuning.h"

namespace octet {
namespace {

// The weights, packed for one algorithm in the tier's format. Members begin as zeros here: GCC 10
// copies the elements of an array that `= {}` begins in a class with inherited constructors.
struct PackedFormat {
  ConvFormat format = {};
  TuneBuffer blob;  // empty: the algorithm cannot be used
  size_t bytes = 0;
};

struct ConvTarget : TuneTarget<ConvTarget, octet_conv2d_desc, octet_conv2d_args, octet_conv2d> {
  ConvSpace space = {};
  PackedFormat formats[kAlgorithms];

  using TuneTarget::TuneTarget;
  static constexpr auto run = octet_conv2d_run;
  static constexpr auto destroy = octet_conv2d_destroy;

  void begin(Choices* choices) {
    for (const PackedFormat& packed : formats)
      if (packed.blob.data()) add_conv_choices(space, packed.format, choices);
  }
  void around(const Choice& choice, Choices* choices) {
    add_conv_choices_near(space, formats[choice.algorithm].format, choice, choices);
  }
  octet_status create(const Choice& choice, octet_conv2d** conv, octet_error* error) {
    const PackedFormat& packed = formats[choice.algorithm];
    desc.packed = packed.blob.data();
    desc.packed_bytes = packed.bytes;
    return create_conv(&desc, &choice, conv, error);
  }
  octet_status measure(const octet_conv2d* conv, size_t* bytes, octet_error* error) {
    return octet_conv2d_workspace(conv, 0, 0, 0, options.concurrency, bytes, error);
  }
  octet_status make_operands(octet_error* error) {
    const ConvShape& s = space.shape;
    args = OCTET_CONV2D_ARGS_INIT;
    return fill("the input", {s.batch, s.in_h, s.in_w, s.in_channels},
                {s.batch, conv_out_h(s, s.in_h), conv_out_w(s, s.in_w), s.out_channels}, error);
  }
};

// Packs as octet_conv2d_pack would for this algorithm: it also tries a format first, if the caller
// names no tier and no sparsity.
octet_status pack(const FilterBuilder& builder, octet_conv_algorithm algorithm,
                  PackedFormat* packed, octet_error* error) {
  octet_filter_desc filter = *builder.given;
  const bool asked = filter.sparsity != OCTET_SPARSE_NONE;
  filter.algorithm = algorithm;
  filter.sparsity = builder.sparse ? OCTET_SPARSE_2_4 : OCTET_SPARSE_NONE;
  const octet_isa isa =
      builder.for_here && !builder.forced && !asked ? OCTET_ISA_AUTO : (octet_isa)builder.tier;
  OCTET_TRY(octet_conv2d_pack_size(&filter, isa, &packed->bytes, error));
  OCTET_TRY(packed->blob.grow("packed weights", packed->bytes, error));
  OCTET_TRY(octet_conv2d_pack(&filter, isa, packed->blob.data(), packed->bytes, error));
  Container container;
  OCTET_TRY(
      check_filter_blob(packed->blob.data(), packed->bytes, "packed weights", &container, error));
  packed->format = {algorithm, {container.format->layout, container.header.has_int8_min != 0}};
  return OCTET_OK;
}

octet_status pack_all(const FilterBuilder& builder, ConvTarget* t, octet_error* error) {
  for (int i = 0; i < kAlgorithms; ++i)
    if (builder.plans.candidates[i].possible)
      OCTET_TRY(pack(builder, (octet_conv_algorithm)i, &t->formats[i], error));
  return OCTET_OK;
}

octet_status check_alike(const octet_conv2d_shape& f, const octet_conv2d_shape& d,
                         octet_error* error) {
  const auto other = [&](const char* name, size_t desc, size_t filter) {
    return fail(error, OCTET_BAD_SIZE, "desc.shape.%s is %zu, and filter.shape.%s is %zu", name,
                desc, name, filter);
  };
  for (const ShapeField& field : kShapeFields)
    if (f.*field.value != d.*field.value) return other(field.name, d.*field.value, f.*field.value);
  if (f.transposed != d.transposed)
    return other("transposed", (size_t)d.transposed, (size_t)f.transposed);
  return OCTET_OK;
}

octet_status check_pair(const octet_filter_desc& f, const octet_conv2d_desc& d,
                        octet_error* error) {
  if (f.algorithm != OCTET_CONV_AUTO)
    return fail(error, OCTET_UNSUPPORTED,
                "filter.algorithm names an algorithm; OCTET_CONV_AUTO leaves a choice");
  if (f.accuracy != OCTET_ACCURACY_EXACT)
    return fail(error, OCTET_UNSUPPORTED,
                "filter.accuracy allows other bytes; what is measured is exact");
  if (!f.data) return fail(error, OCTET_NULL_POINTER, "filter.data is null");
  if (d.lhs_type == OCTET_S16)
    return fail(error, OCTET_UNSUPPORTED,
                "desc.lhs_type is OCTET_S16, whose convolutions are not measured");
  if (d.kernel)
    return fail(error, OCTET_UNSUPPORTED, "desc.kernel names a kernel: there is nothing to choose");
  OCTET_TRY(check_alike(f.shape, d.shape, error));
  if (f.type != d.rhs_type)
    return fail(error, OCTET_UNSUPPORTED, "desc.rhs_type is %s, and filter.type is %s",
                octet_type_name(d.rhs_type), octet_type_name(f.type));
  return OCTET_OK;
}

// The type that kernels multiply: that of the lhs, or the type to which the lhs is quantized.
ElementType lhs_type_of(const octet_conv2d_desc& d) {
  const bool quantized = d.lhs_type == OCTET_F32 && d.lhs_quant == OCTET_LHS_STATIC;
  if (d.lhs_quant == OCTET_LHS_ASYMMETRIC) return ElementType::kU8;
  return element_type_of(quantized ? d.lhs_quantized_type : d.lhs_type);
}

octet_status tune(const octet_filter_desc& f, const octet_conv2d_desc& d,
                  const octet_tune_options& options, octet_tuning* tuning,
                  octet_tune_result* result, octet_error* error) {
  OCTET_TRY(check_pair(f, d, error));
  if (d.max_isa != OCTET_ISA_AUTO && !find_tier((int)d.max_isa))
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.max_isa is %d, not an octet_isa", (int)d.max_isa);
  FilterBuilder builder;
  OCTET_TRY(read_filter(&f, d.max_isa, true, &builder, error));
  ConvTarget target(d, options);
  ConvSpace& space = target.space;
  space.cpu = builder.cpu;
  space.cpu.tiers &= conv_machine().cpu.tiers;
  if (!has(space.cpu.tiers, tier_of(builder.tier)))
    return fail(error, OCTET_UNSUPPORTED, "desc.max_isa is %s, which this machine does not run",
                isa_name(builder.tier));
  space.shape = builder.shape;
  space.lhs_type = lhs_type_of(d);
  space.rhs_type = element_type_of(packed_filter_type(d.rhs_type));
  space.dst_bytes = element_bytes(d.dst_type);
  space.staged =
      d.lhs_layout == OCTET_NCHW || d.dst_layout == OCTET_NCHW || d.lhs_type == OCTET_F32;
  space.concurrency = options.concurrency;
  OCTET_TRY(pack_all(builder, &target, error));
  Choice plan;
  if (choose_conv(space.cpu, space.problem(target.formats[builder.plans.best].format), nullptr,
                  &plan)
          .result != Selected::kOk)
    return fail(error, OCTET_WRONG_TIER, "no usable kernel reads what the plan packs");
  TuningKey key = key_of_filter(best_of(space.cpu.tiers), builder.shape, f.type);
  add_conv(d, &key);
  bool tried = false;
  for (const PackedFormat& packed : target.formats)
    if (packed.blob.data()) {
      const Packing* const packing = find_format_of(packed.format.facts.layout)->packing;
      tried = tried || (packing && packing->trial);
    }
  add_weights(builder, tried, &key);
  return target.tune(key, plan, tuning, result, error);
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_tune_conv2d(const octet_filter_desc* filter, const octet_conv2d_desc* desc,
                               const octet_tune_options* options, octet_tuning* tuning,
                               octet_tune_result* result, octet_error* error) {
  CallerStruct<octet_filter_desc> given_filter;
  CallerStruct<octet_conv2d_desc> given;
  OCTET_TRY(given_filter.read(filter, "filter", error));
  OCTET_TRY(given.read(desc, "desc", error));
  return tune_with(options, result, error,
                   [&](const octet_tune_options& known, octet_tune_result* out) {
                     return tune(*given_filter, *given, known, tuning, out, error);
                   });
}
