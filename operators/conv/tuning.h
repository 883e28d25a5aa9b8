// A convolution as a line of measured choices knows it: first the filter, which packing sees, then
// what only create does. Packing takes a line's algorithm and form, create the rest.
#pragma once

#include "dispatch/tuning/tuning.h"
#include "operators/conv/choice.h"
#include "operators/conv/filter.h"

namespace octet {

TuningKey key_of_filter(Isa tier, const ConvShape& shape, octet_type type);
void add_conv(const octet_conv2d_desc& desc, TuningKey* key);
// The end of a whole key, which create does not know: whether some weight's zero point is not 0 in
// s8, whether weights are packed sparse, whether those of some algorithm are in pairs, and the most
// that they may take.
void add_weights(const FilterBuilder& builder, bool in_pairs, TuningKey* key);

// Puts the machine's own costs in place of the tier's, if there are some.
octet_status look_up_costs(const Environment& environment, FilterBuilder* builder,
                           octet_error* error);

// Puts the measured algorithm and form in place of the plan's, if there is one that may be used.
// What the input and the output will be is not known yet: of several, that which saves most.
octet_status look_up_algorithm(const Environment& environment, FilterBuilder* builder,
                               octet_error* error);

// Leaves *choice, *kernel and *measured alone if there is none that may be used.
octet_status look_up_conv(const octet_conv2d_desc& desc, const Environment& environment,
                          const CpuFeatures& cpu, const ConvChoiceProblem& problem, Choice* choice,
                          ConvKernel* kernel, bool* measured, octet_error* error);

}  // namespace octet
