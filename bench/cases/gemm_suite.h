// SPDX-License-Identifier: Apache-2.0
// Declares the suite of products: the GEMM shapes of real networks.
#pragma once

#include <memory>
#include <vector>

#include "bench/problems/gemm_data.h"

namespace tool {

struct GemmCase {
  GemmShape shape;
  std::string network;  // where it comes from
  int count;            // how often it appears there
  // A model's layer: all operands but the lhs; null: operands are drawn.
  std::shared_ptr<const GemmData> own = {};
};

const std::vector<GemmCase>& gemm_suite();

}  // namespace tool
