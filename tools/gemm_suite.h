// The GEMM shapes of real networks.
#pragma once

#include <vector>

#include "gemm_data.h"

namespace tool {

struct GemmCase {
  GemmShape shape;
  std::string network;  // where it comes from
  int count;            // how often it appears there
};

const std::vector<GemmCase>& gemm_suite();

}  // namespace tool
