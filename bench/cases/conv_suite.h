// SPDX-License-Identifier: Apache-2.0
// Declares the suites of convolutions of real networks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/problems/conv_shape.h"

namespace tool {

struct ConvData;

struct ConvCase {
  ConvShape shape;
  std::string network;  // where it comes from
  int count;            // how often it appears there
  // A network's layer, for tuning: the layout of its tensors, and the weights' zero point that is
  // farthest from symmetric.
  octet_layout layout = OCTET_NHWC;
  std::optional<int32_t> rhs_zero_point = {};
  // A model's layer: all operands but the input; null: operands are drawn.
  std::shared_ptr<const ConvData> own = {};
};

std::vector<std::string> conv_suite_names();
// A suite, or a network of graph.h, with the size of its input or without.
bool is_conv_suite(const std::string& name);
std::vector<ConvCase> conv_suite(const std::string& name);

}  // namespace tool
