// SPDX-License-Identifier: Apache-2.0
// Holds one convolution with its operands.
#pragma once

#include "bench/problems/after.h"
#include "bench/problems/conv_shape.h"

namespace tool {

struct ConvData {
  ConvShape shape;
  OperandTypes types;
  Buffer lhs, filter;  // NHWC, OHWI
  int32_t lhs_zero_point = 0;
  std::vector<int32_t> filter_zero_points = {};  // one, or per output channel, or none
  std::vector<int32_t> bias = {};                // per output channel, or none
  std::vector<float> scales = {};                // one, or per output channel; none for s32
  TfliteScales tflite = {};                      // instead of scales, or none
  int32_t dst_zero_point = 0;
  Activation activation = {};
  After after = {};

  size_t dst_elements() const { return shape.out_pixels() * shape.geometry.out_channels; }
};

// A network's layer: random operands, no zero points but requested ones, a bias; 8-bit
// and f32 outputs have per-channel scales and a ReLU.
ConvData plain_conv_data(const ConvShape& shape, const OperandTypes& types,
                         const Operands& operands = {});

// All features at once: bias, ReLU, zero points on input and output, with this filling. Weights are
// symmetric (zero point 0, u8: 128) or have a zero point of their own per channel.
ConvData full_conv_data(const ConvShape& shape, const OperandTypes& types, Fill fill,
                        bool symmetric);

}  // namespace tool
