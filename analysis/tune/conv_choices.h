// SPDX-License-Identifier: Apache-2.0
// The candidate choices for a convolution. Pure.
#pragma once

#include "analysis/tune/search.h"
#include "operators/conv/choice.h"

namespace octet {

// Facts about the weights, packed for an algorithm in a tier's format.
struct ConvFormat {
  octet_conv_algorithm algorithm;
  WeightFacts facts;
};

struct ConvSpace {
  CpuFeatures cpu;  // the CPU features that may be used
  ConvShape shape;
  ElementType lhs_type, rhs_type;
  size_t dst_bytes;
  bool staged;  // tensors are staged: bands of lines go through a pipeline
  size_t concurrency;

  ConvChoiceProblem problem(const ConvFormat& format) const {
    return {format.algorithm, shape, lhs_type, rhs_type, dst_bytes, format.facts};
  }
};

// Adds a choice for each kernel that reads the format.
void add_conv_choices(const ConvSpace& space, const ConvFormat& format, Choices* choices);
// Adds choices with other blocks, passes, bands and cuts.
void add_conv_choices_near(const ConvSpace& space, const ConvFormat& format, const Choice& choice,
                           Choices* choices);

}  // namespace octet
