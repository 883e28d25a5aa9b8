// SPDX-License-Identifier: Apache-2.0
// The key of a convolution in a tuning: first the filter, which packing knows, then the parts that
// only create knows. Packing takes algorithm and weight format from a line, create takes the rest.
#pragma once

#include "dispatch/tuning/tuning.h"
#include "operators/conv/choice.h"
#include "operators/conv/filter.h"

namespace octet {

TuningKey key_of_filter(TierId tier, const ConvShape& shape, octet_type type);
void add_conv(const octet_conv2d_desc& desc, TuningKey* key);
// Adds the end of a key, which create does not know: whether some weight's zero point is not 0 in
// s8, whether weights are packed sparse, whether any algorithm's are in the format that is tried
// first, and the byte limit.
void add_weights(const FilterBuilder& builder, bool tried, TuningKey* key);

// Replaces the tier's costs by the machine's own, if the tuning has them.
octet_status look_up_costs(const Environment& environment, FilterBuilder* builder,
                           octet_error* error);

// Replaces the plan's algorithm and weight format by the measured ones, if a usable line exists.
// Input and output types are not known yet: of several lines the one that saves most wins.
octet_status look_up_algorithm(const Environment& environment, FilterBuilder* builder,
                               octet_error* error);

// Leaves *choice, *kernel and *measured unchanged if there is no usable line.
octet_status look_up_conv(const octet_conv2d_desc& desc, const Environment& environment,
                          const CpuFeatures& cpu, const ConvChoiceProblem& problem, Choice* choice,
                          ConvKernel* kernel, bool* measured, octet_error* error);

}  // namespace octet
