// SPDX-License-Identifier: Apache-2.0
// A checked filter descriptor, with the algorithm and the layout for packing. Pack and explain
// share it.
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
  TierId tier;         // the filter is packed for this tier
  CpuFeatures cpu;     // features of the tier that may be used
  const char* forced;  // kernel name, or null
  bool for_here;       // the caller named no tier
  bool sparse;         // direct and im2col pack sparse weights
  Sparsity sparsity;   // the reason
  TierCosts costs;
  CostsOrigin costs_origin;
  ConvPlans plans;
  octet_conv_algorithm algorithm;
  bool measured;  // the algorithm was measured on this machine, as part of:
  Choice choice;
  const WeightFormat* format;
  const WeightFormat* tried;  // the format to try first, or null
  // The most bytes of the blob. Weights that were not looked at may be packed sparse or dense.
  size_t most_bytes;
};

// The layout of an algorithm's weights. A forced kernel may have a layout of its own.
RhsLayout packed_layout(const FilterBuilder& builder, const ConvAlgorithm& implementation);

// The format that is tried before that layout, or null. Null if the caller asks for a sparsity.
const WeightFormat* format_to_try(const FilterBuilder& builder, uint8_t algorithm);

// Lays out the blob of an algorithm's weights. False if a size exceeds ptrdiff_t.
bool plan_blob(const FilterBuilder& builder, const WeightFormat& format, uint8_t algorithm,
               Container* container);

// Reads shape and weights only; decides nothing about packing.
octet_status read_weights(const octet_filter_desc* filter, FilterBuilder* builder,
                          octet_error* error);

// looks: true to look at the weights, if there are any, for the 2:4 pattern.
octet_status read_filter(const octet_filter_desc* filter, octet_isa isa, bool looks,
                         FilterBuilder* builder, octet_error* error);

}  // namespace octet
