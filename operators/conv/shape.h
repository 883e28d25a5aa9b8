// Checks the geometry of a convolution.
#pragma once

#include "dispatch/api/error.h"
#include "octet/octet.h"
#include "operators/conv/algorithms/algorithm.h"

namespace octet {

constexpr size_t kLargest = (size_t)1 << 31;  // largest value of a shape's field

// The fields of a shape but `transposed`: sizes of tensors, then what the weights determine, pads,
// and padding of the output.
struct ShapeField {
  enum Kind { kSize, kWeights, kPad, kOutput } kind;
  const char* name;
  size_t octet_conv2d_shape::*value;
};
constexpr ShapeField kShapeFields[] = {
    {ShapeField::kSize, "batch_max", &octet_conv2d_shape::batch_max},
    {ShapeField::kSize, "in_h_max", &octet_conv2d_shape::in_h_max},
    {ShapeField::kSize, "in_w_max", &octet_conv2d_shape::in_w_max},
    {ShapeField::kWeights, "in_channels", &octet_conv2d_shape::in_channels},
    {ShapeField::kWeights, "out_channels", &octet_conv2d_shape::out_channels},
    {ShapeField::kWeights, "groups", &octet_conv2d_shape::groups},
    {ShapeField::kWeights, "kernel_h", &octet_conv2d_shape::kernel_h},
    {ShapeField::kWeights, "kernel_w", &octet_conv2d_shape::kernel_w},
    {ShapeField::kWeights, "stride_h", &octet_conv2d_shape::stride_h},
    {ShapeField::kWeights, "stride_w", &octet_conv2d_shape::stride_w},
    {ShapeField::kWeights, "dilation_h", &octet_conv2d_shape::dilation_h},
    {ShapeField::kWeights, "dilation_w", &octet_conv2d_shape::dilation_w},
    {ShapeField::kPad, "pad_top", &octet_conv2d_shape::pad_top},
    {ShapeField::kPad, "pad_bottom", &octet_conv2d_shape::pad_bottom},
    {ShapeField::kPad, "pad_left", &octet_conv2d_shape::pad_left},
    {ShapeField::kPad, "pad_right", &octet_conv2d_shape::pad_right},
    {ShapeField::kOutput, "output_padding_h", &octet_conv2d_shape::output_padding_h},
    {ShapeField::kOutput, "output_padding_w", &octet_conv2d_shape::output_padding_w},
};

// name: the argument that holds the shape, e.g. "filter.shape".
octet_status read_shape(const octet_conv2d_shape& shape, const char* name, ConvShape* out,
                        octet_error* error);

// Output size for an input; fails if it is below 1. name: the argument that holds the sizes.
octet_status output_size(const ConvShape& shape, size_t in_h, size_t in_w, const char* name,
                         size_t* out_h, size_t* out_w, octet_error* error);

}  // namespace octet
