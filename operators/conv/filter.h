// A filter descriptor, checked, with the algorithm and the layout that it will be packed in: what
// pack and explain share.
#pragma once

#include "dispatch/api/struct_size.h"
#include "dispatch/cpu/features.h"
#include "dispatch/select/choice.h"
#include "dispatch/select/sparsity.h"
#include "dispatch/tuning/costs.h"
#include "operators/conv/algorithms/filter_blob.h"
#include "operators/conv/plan.h"

namespace octet {

struct FilterBuilder {
  CallerStruct<octet_filter_desc> given;
  ConvShape shape;
  FilterView view;
  Isa tier;            // that the filter is packed for
  CpuFeatures cpu;     // what of it may be used
  const char* forced;  // kernel name, or null
  bool for_here;       // the caller left the tier to us
  bool sparse;         // direct and im2col pack sparse weights
  Sparsity sparsity;   // why, or why not
  TierCosts costs;
  CostsOrigin costs_origin;
  ConvPlans plans;
  octet_conv_algorithm algorithm;
  bool measured;  // it was, on this machine, as part of:
  Choice choice;
  const WeightFormat* format;
  const WeightFormat* paired;  // to try first, or null
  // The most that the blob may take. Weights that were not looked at may be packed sparse or dense.
  size_t most_bytes;
};

// The layout of an algorithm's weights. A forced kernel may have one of its own.
RhsLayout packed_layout(const FilterBuilder& builder, const ConvAlgorithm& implementation);

// The form in pairs in which an algorithm's weights are tried before that layout, or null. None
// where a sparsity is asked for.
const WeightFormat* format_to_try(const FilterBuilder& builder, uint8_t algorithm);

// Lays out the blob of an algorithm's weights. False if a size leaves ptrdiff_t.
bool plan_blob(const FilterBuilder& builder, const WeightFormat& format, uint8_t algorithm,
               Container* container);

// Shape and view only: what the weights are, not how they will lie.
octet_status read_weights(const octet_filter_desc* filter, FilterBuilder* builder,
                          octet_error* error);

// looks: at the weights, for whether they are sparse, where there are any.
octet_status read_filter(const octet_filter_desc* filter, octet_isa isa, bool looks,
                         FilterBuilder* builder, octet_error* error);

}  // namespace octet
