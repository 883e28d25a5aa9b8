// SPDX-License-Identifier: Apache-2.0
// Compares a product's output with loops over its definition.
#include "bench/problems/gemm_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tool {
namespace {

// acc[n] = sum over k of (lhs - zero point) * (rhs - zero point) + bias, for one row.
std::vector<int64_t> accumulators(const GemmData& d, size_t row) {
  std::vector<int64_t> acc(d.shape.n, 0);
  for (size_t k = 0; k < d.shape.k; ++k) {
    const int64_t a = d.lhs_at(row, k);
    for (size_t n = 0; n < d.shape.n; ++n) acc[n] += a * d.rhs_at(k, n);
  }
  for (size_t n = 0; n < d.bias.size(); ++n) acc[n] += d.bias[n];
  return acc;
}

Verdict check_row(const GemmData& d, const void* dst, size_t row, int tolerance) {
  const std::vector<int64_t> acc = accumulators(d, row);
  for (size_t n = 0; n < d.shape.n; ++n) {
    const double want =
        contract_output(d.activation.stage(d.types.dst, d.dst_zero_point), acc[n],
                        factor_of(d.scales, d.tflite, n), d.after, row * d.shape.n + n);
    const double got = value_at(d.types.dst, dst, row * d.shape.n + n);
    if (!(std::abs(want - got) <= tolerance))
      return {false, fmt::format("row {}, column {}: {} instead of {}", row, n, got, want)};
  }
  return {};
}

// C * t == A * (B * t) for a vector t of small numbers: exact in int64, and quadratic where a
// second product would be cubic.
Verdict check_by_vector(const GemmData& d, const int32_t* dst) {
  const auto t = [](size_t n) { return (int64_t)(n * 2654435761u >> 7 & 0xff) - 127; };
  std::vector<int64_t> bt(d.shape.k, 0);
  int64_t bias_t = 0;
  for (size_t k = 0; k < d.shape.k; ++k)
    for (size_t n = 0; n < d.shape.n; ++n) bt[k] += d.rhs_at(k, n) * t(n);
  for (size_t n = 0; n < d.bias.size(); ++n) bias_t += d.bias[n] * t(n);
  for (size_t m = 0; m < d.shape.m; ++m) {
    int64_t want = bias_t, got = 0;
    for (size_t k = 0; k < d.shape.k; ++k) want += d.lhs_at(m, k) * bt[k];
    for (size_t n = 0; n < d.shape.n; ++n) got += dst[m * d.shape.n + n] * t(n);
    if (want != got)
      return {false, fmt::format("row {}: the product with a test vector is {} instead of {}", m,
                                 got, want)};
  }
  return {};
}

}  // namespace

Verdict check_product(const GemmData& d, const void* dst, int tolerance) {
  constexpr double kWhole = 1 << 25, kSampledRows = 16;
  const bool whole = d.shape.ops() <= kWhole;
  const size_t step = whole ? 1 : (size_t)std::max(1.0, (double)d.shape.m / kSampledRows);
  const auto check = [&](size_t row) {
    return check_row(d, dst, row, d.types.dst == OCTET_S32 ? 0 : tolerance);
  };
  for (size_t row = 0; row < d.shape.m; row += step)
    if (const Verdict verdict = check(row); !verdict.right) return verdict;
  if (whole) return {};
  if (const Verdict verdict = check(d.shape.m - 1); !verdict.right) return verdict;
  return d.types.dst == OCTET_S32 ? check_by_vector(d, (const int32_t*)dst) : Verdict{};
}

}  // namespace tool
