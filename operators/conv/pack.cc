// octet_conv2d_pack_size, octet_conv2d_pack and octet_conv2d_explain: packs a filter and describes
// how it would be packed and run.
#include <stdio.h>
#include <string.h>

#include "dispatch/tuning/tuning.h"
#include "operators/common/blob.h"
#include "operators/common/check.h"
#include "operators/conv/algorithms/panels.h"
#include "operators/conv/choice.h"
#include "operators/conv/filter.h"
#include "operators/conv/machine.h"

namespace octet {
namespace {

octet_status lay_out(const octet_filter_desc* filter, octet_isa isa, bool looks,
                     FilterBuilder* builder, Container* container, octet_error* error) {
  OCTET_TRY(read_filter(filter, isa, looks, builder, error));
  const WeightFormat& format = builder->tried ? *builder->tried : *builder->format;
  if (!plan_blob(*builder, format, (uint8_t)builder->algorithm, container))
    return fail(error, OCTET_BAD_SIZE, "filter.shape: the packed size leaves ptrdiff_t");
  container->header.sparsity = builder->sparsity;
  return OCTET_OK;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_conv2d_pack_size(const octet_filter_desc* filter, octet_isa isa, size_t* bytes,
                                    octet_error* error) {
  if (!bytes) return fail(error, OCTET_NULL_POINTER, "bytes is null");
  FilterBuilder builder;
  Container container;
  OCTET_TRY(lay_out(filter, isa, false, &builder, &container, error));
  *bytes = larger((size_t)container.header.bytes, builder.most_bytes);
  return OCTET_OK;
}

octet_status octet_conv2d_pack(const octet_filter_desc* filter, octet_isa isa, void* blob,
                               size_t blob_bytes, octet_error* error) {
  FilterBuilder builder;
  Container container;
  OCTET_TRY(lay_out(filter, isa, false, &builder, &container, error));
  const octet_filter_desc& f = *builder.given;
  const bool dense = f.sparsity == OCTET_SPARSE_NONE;
  if (!f.data) return fail(error, OCTET_NULL_POINTER, "filter.data is null");
  if (!blob) return fail(error, OCTET_NULL_POINTER, "blob is null");
  OCTET_TRY(check_aligned(blob, "blob", error));
  const auto is_short = [&] {
    return fail(error, OCTET_BAD_SIZE, "blob_bytes = %zu, but octet_conv2d_pack_size says %zu",
                blob_bytes, (size_t)container.header.bytes);
  };
  if (dense && blob_bytes < container.header.bytes) return is_short();
  const size_t weights =
                   builder.shape.taps() * builder.shape.group_in() * builder.shape.out_channels,
               most = larger((size_t)container.header.bytes, builder.most_bytes);
  const struct {
    const char* name;
    Extent extent;
  } inputs[] = {{"data", extent_of(f.data, weights)},
                {"zero_points", extent_of(f.zero_points, f.zero_point_count * sizeof(int32_t))},
                {"tap_ranges", extent_of(f.tap_ranges, 16 * sizeof(float))}};
  for (const auto& input : inputs)
    if (meet(extent_of(blob, smaller(blob_bytes, most)), input.extent))
      return fail(error, OCTET_OVERLAP, "blob overlaps filter.%s", input.name);
  if (!dense) OCTET_TRY(lay_out(filter, isa, true, &builder, &container, error));
  if (blob_bytes < container.header.bytes) return is_short();
  const auto write = [&] {
    write_filter(&container, *algorithm_of((uint8_t)builder.algorithm), builder.shape, builder.view,
                 f.tap_ranges, blob);
  };
  write();
  if (builder.tried && !builder.tried->packing->trial->pays(builder.tried->layout,
                                                            panels_of_filter(container, blob))) {
    const size_t tried = (size_t)container.header.bytes;
    // the other blob is no larger
    plan_blob(builder, *builder.format, (uint8_t)builder.algorithm, &container);
    container.header.sparsity = builder.sparsity;
    write();
    const size_t used = (size_t)container.header.bytes;
    memset((uint8_t*)blob + used, 0, tried - used);
  }
  return OCTET_OK;
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
