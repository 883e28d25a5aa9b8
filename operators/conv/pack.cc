// octet_conv2d_pack_size, octet_conv2d_pack and octet_conv2d_explain.
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

octet_status lay_out(const octet_filter_desc* filter, octet_isa isa, bool looks, FilterDraft* draft,
                     Container* container, octet_error* error) {
  OCTET_TRY(read_filter(filter, isa, looks, draft, error));
  const Form& form = draft->paired ? *draft->paired : *draft->form;
  if (!plan_blob(*draft, form, (uint8_t)draft->algorithm, container))
    return fail(error, OCTET_BAD_SIZE, "filter.shape: the packed size leaves ptrdiff_t");
  container->header.sparsity = draft->sparsity;
  return OCTET_OK;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_conv2d_pack_size(const octet_filter_desc* filter, octet_isa isa, size_t* bytes,
                                    octet_error* error) {
  if (!bytes) return fail(error, OCTET_NULL_POINTER, "bytes is null");
  FilterDraft draft;
  Container container;
  OCTET_TRY(lay_out(filter, isa, false, &draft, &container, error));
  *bytes = larger((size_t)container.header.bytes, draft.most_bytes);
  return OCTET_OK;
}

octet_status octet_conv2d_pack(const octet_filter_desc* filter, octet_isa isa, void* blob,
                               size_t blob_bytes, octet_error* error) {
  FilterDraft draft;
  Container container;
  OCTET_TRY(lay_out(filter, isa, false, &draft, &container, error));
  const octet_filter_desc& f = *draft.given;
  const bool dense = f.sparsity == OCTET_SPARSE_NONE;
  if (!f.data) return fail(error, OCTET_NULL_POINTER, "filter.data is null");
  if (!blob) return fail(error, OCTET_NULL_POINTER, "blob is null");
  OCTET_TRY(check_aligned(blob, "blob", error));
  const auto is_short = [&] {
    return fail(error, OCTET_BAD_SIZE, "blob_bytes = %zu, but octet_conv2d_pack_size says %zu",
                blob_bytes, (size_t)container.header.bytes);
  };
  if (dense && blob_bytes < container.header.bytes) return is_short();
  const size_t weights = draft.shape.taps() * draft.shape.group_in() * draft.shape.out_channels,
               most = larger((size_t)container.header.bytes, draft.most_bytes);
  const struct {
    const char* name;
    Extent extent;
  } inputs[] = {{"data", extent_of(f.data, weights)},
                {"zero_points", extent_of(f.zero_points, f.zero_point_count * sizeof(int32_t))},
                {"tap_ranges", extent_of(f.tap_ranges, 16 * sizeof(float))}};
  for (const auto& input : inputs)
    if (meet(extent_of(blob, smaller(blob_bytes, most)), input.extent))
      return fail(error, OCTET_OVERLAP, "blob overlaps filter.%s", input.name);
  if (!dense) OCTET_TRY(lay_out(filter, isa, true, &draft, &container, error));
  if (blob_bytes < container.header.bytes) return is_short();
  const auto write = [&] {
    write_filter(&container, *method_of((uint8_t)draft.algorithm), draft.shape, draft.view,
                 f.tap_ranges, blob);
  };
  write();
  if (draft.paired && !cost_of(draft.paired->layout, pairs_of_filter(container, blob)).pays()) {
    const size_t tried = (size_t)container.header.bytes;
    plan_blob(draft, *draft.form, (uint8_t)draft.algorithm, &container);  // is no larger
    container.header.sparsity = draft.sparsity;
    write();
    const size_t used = (size_t)container.header.bytes;
    memset((uint8_t*)blob + used, 0, tried - used);
  }
  return OCTET_OK;
}

octet_status octet_conv2d_explain(const octet_filter_desc* filter, octet_isa isa, size_t index,
                                  octet_conv2d_candidate* candidate, octet_error* error) {
  OCTET_TRY(check_out(candidate, "candidate", error));
  FilterDraft draft;
  OCTET_TRY(read_filter(filter, isa, true, &draft, error));
  constexpr size_t kCount = kAlgorithms - 1;  // without AUTO
  if (index >= kCount)
    return fail(error, OCTET_BAD_SIZE, "index is %zu; there are %zu candidates", index, kCount);
  const octet_conv_algorithm algorithm = (octet_conv_algorithm)(index + 1);
  const Candidate& c = draft.plans.candidates[algorithm];
  octet_conv2d_candidate out = OCTET_CONV2D_CANDIDATE_INIT;
  out.algorithm = algorithm;
  out.possible = c.possible;
  out.packed_bytes = c.packed_bytes;
  out.chosen = algorithm == draft.algorithm;
  if (out.chosen && (draft.measured || algorithm == draft.plans.best))
    out.origin = origin_of(draft.measured, draft.costs_origin);
  out.macs = c.estimate.macs;
  out.bytes = c.estimate.bytes;
  out.microseconds = c.microseconds;
  out.compute_microseconds = c.estimate.compute;
  out.memory_microseconds = c.estimate.memory;
  out.transform_microseconds = c.estimate.transform;
  memcpy(out.reason, c.reason, sizeof out.reason);
  if (out.chosen && draft.sparsity != Sparsity::kNotAsked) {
    const size_t used = strlen(out.reason);
    snprintf(out.reason + used, sizeof out.reason - used, "; %s", describe(draft.sparsity));
  }
  // Of a tier that is not compiled in, weights may be packed, but nothing runs
  if (!c.possible || !(conv_machine().compiled & mask_of(draft.tier))) return give(out, candidate);
  const ConvMethod& method = *method_of((uint8_t)algorithm);
  const Form* const paired = form_to_try(draft, (uint8_t)algorithm);
  if (paired) {
    const size_t said = strlen(out.reason);
    snprintf(out.reason + said, sizeof out.reason - said,
             "; in form %s, if pairs of weights fit 16 bits", paired->name);
  }
  const RhsLayout layout = paired ? paired->layout : packed_layout(draft, method);
  const WeightFacts facts = {layout, !draft.given->data || has_least(draft.shape, draft.view) ||
                                         fills_with_least(layout, draft.shape, draft.view)};
  const ConvChoiceProblem problem = {algorithm, draft.shape, true, layout.domain == Domain::kU8,
                                     1,         facts};
  Choice choice;
  const ConvKernel kernel = choose_conv(draft.cpu, problem, draft.forced, &choice);
  if (kernel.result != Selected::kOk) return give(out, candidate);
  if (out.chosen && draft.measured) choice = draft.choice;
  out.kernel = choice.kernel->name;
  static_assert(sizeof out.choice == kChoiceBytes, "a choice's text has its room");
  to_text(choice, out.choice);
  return give(out, candidate);
}
