// Where accumulators start, in plain loops, compiled once per ISA like finish.h.
#pragma once

#include "kernels/core/init.h"
#include "kernels/core/unroll.h"

namespace octet {
namespace {

// Most rows have one of the two terms: a product of 32 bits is the dearest there is in here.
void init_tile(const Init& t) {
  const uint32_t* const base = (const uint32_t*)t.base;
  const uint32_t* const weight_sums = (const uint32_t*)t.weight_sums;
  const uint32_t* const rhs_zero_points = (const uint32_t*)t.rhs_zero_points;
  const auto less = [&](uint32_t* to, uint32_t z, const uint32_t* terms) {
    OCTET_INDEPENDENT
    for (size_t j = 0; j < t.cols; ++j) to[j] = base[j] - z * terms[j];
  };
  for (size_t i = 0; i < t.rows; ++i) {
    uint32_t* const to = (uint32_t*)t.out + i * t.out_stride;
    const uint32_t z =
        t.lhs_zero_points ? (uint32_t)t.lhs_zero_points[i * t.lhs_zero_point_step] : 0;
    const uint32_t s = t.row_sums ? (uint32_t)t.row_sums[i] : 0;
    if (z && s) {
      OCTET_INDEPENDENT
      for (size_t j = 0; j < t.cols; ++j)
        to[j] = base[j] - z * weight_sums[j] - s * rhs_zero_points[j];
    } else if (s) {
      less(to, s, rhs_zero_points);
    } else {
      less(to, z, z ? weight_sums : base);
    }
  }
}

}  // namespace
}  // namespace octet
