// SPDX-License-Identifier: Apache-2.0
// Holds one GEMM problem with its operands.
#pragma once

#include <string>
#include <vector>

#include "bench/problems/after.h"

namespace tool {

struct GemmShape {
  size_t m, n, k;
  std::string name() const;  // "128x768x3072"
  double ops() const { return 2.0 * (double)m * (double)n * (double)k; }
};
bool parse_triple(const std::string& text, size_t (&numbers)[3]);  // "1x2x3", no zeros

struct GemmData {
  GemmShape shape;
  OperandTypes types;
  Buffer lhs, rhs;  // m x k, k x n
  int32_t lhs_zero_point = 0;
  std::vector<int32_t> rhs_zero_points = {};  // one, or n, or none
  std::vector<int32_t> bias = {};             // n, or none
  std::vector<float> scales = {};             // one, or n; none for s32
  TfliteScales tflite = {};                   // instead of scales, or none
  int32_t dst_zero_point = 0;
  Activation activation = {};
  After after = {};
  // Set: weights come with each run, in this order; weights has them so
  std::optional<octet_rhs_order> run_time = {};
  size_t scale_block = 0;     // of weights of 4 bits; all its scales are 1
  Buffer columns = Buffer();  // NK: n x k
  const Buffer& weights() const { return run_time == OCTET_NK ? columns : rhs; }
  void bring_weights(std::optional<octet_rhs_order> order);

  int32_t lhs_at(size_t row, size_t depth) const;
  int32_t rhs_at(size_t depth, size_t column) const;
};

// A network's product: random operands, no zero points but requested ones; 8-bit and f32
// outputs have a bias and per-channel scales.
GemmData plain_data(const GemmShape& shape, const OperandTypes& types,
                    const Operands& operands = {});

// All features at once: zero points on all operands, per channel on the rhs, and a bias, with this
// filling.
GemmData full_data(const GemmShape& shape, const OperandTypes& types, Fill fill);

}  // namespace tool
