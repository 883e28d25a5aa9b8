// SPDX-License-Identifier: Apache-2.0
// Checks the geometry of a convolution.
#pragma once

#include "dispatch/api/error.h"
#include "octet/octet.h"
#include "operators/conv/algorithms/algorithm.h"

namespace octet {

constexpr size_t kLargest = (size_t)1 << 31;  // largest value of a shape's field

// The fields of a shape but `transposed`: sizes of tensors, then the fields that the weights
// determine, pads, and padding of the output.
struct ShapeField {
  enum Kind { kSize, kWeights, kPad, kOutput } kind;
  const char* name;
  size_t octet_conv2d_shape::*value;
};
extern const ShapeField kShapeFields[18];

// name: the argument that holds the shape, e.g. "filter.shape".
octet_status read_shape(const octet_conv2d_shape& shape, const char* name, ConvShape* out,
                        octet_error* error);

// Output size for an input; fails if it is below 1. name: the argument that holds the sizes.
octet_status output_size(const ConvShape& shape, size_t in_h, size_t in_w, const char* name,
                         size_t* out_h, size_t* out_w, octet_error* error);

}  // namespace octet
