// SPDX-License-Identifier: Apache-2.0
// octet_conv2d_pack_size, octet_conv2d_pack and octet_conv2d_explain: packs a filter and describes
// how it would be packed and run.
#include <stdio.h>
#include <string.h>

#include "dispatch/tuning/tuning.h"
#include "operators/common/blob.h"
#include "operators/common/check.h"
#include "operators/common/pack_into.h"
#include "operators/conv/algorithms/panels.h"
#include "operators/conv/choice.h"
#include "operators/conv/filter.h"
#include "operators/conv/machine.h"

namespace octet {
namespace {

struct FilterPacker {
  FilterBuilder builder;
  Container container;
  const octet_filter_desc* filter;
  octet_isa isa;

  octet_status read(bool looks, octet_error* error) {
    OCTET_TRY(read_filter(filter, isa, looks, &builder, error));
    if (!lay_out(builder.tried ? *builder.tried : *builder.format))
      return fail(error, OCTET_BAD_SIZE, "filter.shape: the packed size leaves ptrdiff_t");
    return OCTET_OK;
  }
  bool lay_out(const WeightFormat& format) {
    const bool fits = plan_blob(builder, format, (uint8_t)builder.algorithm, &container);
    container.header.sparsity = builder.sparsity;
    return fits;
  }

  // As pack_into wants them
  bool dense() const { return builder.given->sparsity == OCTET_SPARSE_NONE; }
  size_t bytes() const { return (size_t)container.header.bytes; }
  size_t most_bytes() const { return larger(bytes(), builder.most_bytes); }
  octet_status look_at_weights(octet_error* error) { return read(true, error); }
  void write(void* blob) {
    write_filter(&container, *algorithm_of((uint8_t)builder.algorithm), builder.shape, builder.view,
                 builder.given->tap_ranges, blob);
  }
  bool pays(const void* blob) const {
    const WeightFormat* const tried = builder.tried;
    return !tried || tried->packing->trial->pays(tried->layout, panels_of_filter(container, blob));
  }
  void take_other_format() { lay_out(*builder.format); }
};

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_conv2d_pack_size(const octet_filter_desc* filter, octet_isa isa, size_t* bytes,
                                    octet_error* error) {
  if (!bytes) return fail(error, OCTET_NULL_POINTER, "bytes is null");
  FilterPacker p;
  p.filter = filter, p.isa = isa;
  OCTET_TRY(p.read(false, error));
  *bytes = p.most_bytes();
  return OCTET_OK;
}

octet_status octet_conv2d_pack_outline(const octet_filter_desc* filter, octet_isa isa,
                                       void* outline, octet_error* error) {
  FilterPacker p;
  p.filter = filter, p.isa = isa;
  OCTET_TRY(p.read(false, error));
  OCTET_TRY(check_outline(outline, error));
  const octet_filter_desc desc =
      outlined(*p.builder.given, has_zero_points(p.builder.view, ElementType::kS8));
  if (desc.sparsity != p.builder.given->sparsity) {
    p.filter = &desc;
    OCTET_TRY(p.read(false, error));
  }
  // All weights of 4 bits suit the tried format, those of 8 bits that use their range do not
  if (p.builder.tried && !is_4bit(desc.type)) p.take_other_format();
  p.container.header.has_int8_min = !is_4bit(desc.type);
  write_outline(&p.container, outline);
  return OCTET_OK;
}

octet_status octet_conv2d_pack(const octet_filter_desc* filter, octet_isa isa, void* blob,
                               size_t blob_bytes, octet_error* error) {
  FilterPacker p;
  p.filter = filter, p.isa = isa;
  OCTET_TRY(p.read(false, error));
  const octet_filter_desc& f = *p.builder.given;
  const ConvShape& s = p.builder.shape;
  if (!f.data) return fail(error, OCTET_NULL_POINTER, "filter.data is null");
  const size_t count = s.taps() * s.group_in() * s.out_channels;
  return pack_into(
      &p, "octet_conv2d_pack_size",
      {{"filter.data", extent_of(f.data, is_4bit(f.type) ? divide_up(count, 2) : count)},
       {"filter.zero_points", extent_of(f.zero_points, f.zero_point_count * sizeof(int32_t))},
       {"filter.tap_ranges", extent_of(f.tap_ranges, 16 * sizeof(float))}},
      blob, blob_bytes, error);
}

octet_status octet_conv2d_explain(const octet_filter_desc* filter, octet_isa isa, size_t index,
                                  octet_conv2d_candidate* candidate, octet_error* error) {
  OCTET_TRY(check_out(candidate, "candidate", error));
  FilterBuilder builder;
  OCTET_TRY(read_filter(filter, isa, true, &builder, error));
  constexpr size_t kCount = kAlgorithms - 1;  // all but AUTO
  if (index >= kCount)
    return fail(error, OCTET_BAD_SIZE, "index is %zu; there are %zu candidates", index, kCount);
  const octet_conv_algorithm algorithm = (octet_conv_algorithm)(index + 1);
  const Candidate& c = builder.plans.candidates[algorithm];
  octet_conv2d_candidate out = OCTET_CONV2D_CANDIDATE_INIT;
  out.algorithm = algorithm;
  out.possible = c.possible;
  out.packed_bytes = c.packed_bytes;
  out.chosen = algorithm == builder.algorithm;
  if (out.chosen && (builder.measured || algorithm == builder.plans.best))
    out.origin = origin_of(builder.measured, builder.costs_origin);
  out.macs = c.estimate.macs;
  out.bytes = c.estimate.bytes;
  out.microseconds = c.microseconds;
  out.compute_microseconds = c.estimate.compute;
  out.memory_microseconds = c.estimate.memory;
  out.transform_microseconds = c.estimate.transform;
  memcpy(out.reason, c.reason, sizeof out.reason);
  if (out.chosen && builder.sparsity != Sparsity::kNotAsked) {
    const size_t used = strlen(out.reason);
    snprintf(out.reason + used, sizeof out.reason - used, "; %s", describe(builder.sparsity));
  }
  // Weights can be packed for a tier that is not compiled in, but nothing runs
  if (!c.possible || !(conv_machine().compiled & mask_of(builder.tier)))
    return give(out, candidate);
  const ConvAlgorithm& implementation = *algorithm_of((uint8_t)algorithm);
  const WeightFormat* const tried = format_to_try(builder, (uint8_t)algorithm);
  if (tried) {
    const size_t said = strlen(out.reason);
    snprintf(out.reason + said, sizeof out.reason - said, "; in form %s, if %s", tried->name,
             tried->packing->trial->condition);
  }
  const RhsLayout layout = tried ? tried->layout : packed_layout(builder, implementation);
  const WeightFacts facts = {layout, !builder.given->data ||
                                         has_int8_min(builder.shape, builder.view) ||
                                         fills_with_int8_min(layout, builder.shape, builder.view)};
  const ConvChoiceProblem problem = {
      algorithm, builder.shape, ElementType::kU8, layout.element_type, 1, facts};
  Choice choice;
  const ConvKernel kernel = choose_conv(builder.cpu, problem, builder.forced, &choice);
  if (kernel.result != Selected::kOk) return give(out, candidate);
  if (out.chosen && builder.measured) choice = builder.choice;
  out.kernel = choice.kernel->name;
  static_assert(sizeof out.choice == kChoiceBytes, "a choice's text has its room");
  to_text(choice, out.choice);
  return give(out, candidate);
}
