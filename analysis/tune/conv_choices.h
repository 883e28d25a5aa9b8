// What may be of use to compute a convolution. Pure.
#pragma once

#include "analysis/tune/search.h"
#include "operators/conv/choice.h"

namespace octet {

// The weights as an algorithm has them packed in a tier's form.
struct ConvFormat {
  octet_conv_algorithm algorithm;
  WeightFacts facts;
};

struct ConvSpace {
  CpuFeatures cpu;  // what of it may be used
  ConvShape shape;
  bool lhs_u8, rhs_u8;
  size_t dst_bytes;
  bool staged;  // tensors are not taken as they lie: bands of lines go through a pipeline
  size_t concurrency;

  ConvChoiceProblem problem(const ConvFormat& format) const {
    return {format.algorithm, shape, lhs_u8, rhs_u8, dst_bytes, format.facts};
  }
};

// Each kernel that multiplies by the form.
void add_conv_choices(const ConvSpace& space, const ConvFormat& format, Choices* choices);
// With other blocks, passes, bands and cuts.
void add_conv_choices_near(const ConvSpace& space, const ConvFormat& format, const Choice& choice,
                           Choices* choices);

}  // namespace octet
