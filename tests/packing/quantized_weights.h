// SPDX-License-Identifier: Apache-2.0
// Weights in blocks as octet/quantized_weights.h writes them, and their product.
#pragma once

#include <gtest/gtest.h>
#include <octet/quantized_weights.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/draw.h"
#include "support/guarded.h"

namespace octet_test {

using Bytes = std::vector<uint8_t>;
constexpr uint16_t kHalfOne = 0x3c00;

// Weights in blocks, as the functions write them.
struct Weights {
  Weights(octet_type type, octet_type scale_type, size_t n, size_t k, size_t block)
      : type(type),
        scale_type(scale_type),
        n(n),
        k(k),
        block(block),
        data((n * k + 1) / 2, Side::kBack),
        scales(n * (k / block) * size(), Side::kBack, size()),
        zeros(n * (k / block), 0) {}
  size_t size() const { return scale_type == OCTET_F16 ? 2 : 4; }
  int32_t at(size_t row, size_t depth) const {
    const size_t i = row * k + depth;
    const int32_t q = data.data()[i / 2] >> i % 2 * 4 & 15;
    return type == OCTET_S4 && q > 7 ? q - 16 : q;
  }
  Bytes data_bytes() const { return {data.data(), data.data() + data.bytes()}; }
  Bytes scale_bytes() const { return {scales.data(), scales.data() + scales.bytes()}; }

  octet_type type, scale_type;
  size_t n, k, block;
  Guarded data, scales;
  std::vector<int32_t> zeros;
};

// A power of two or its negative as f16 and as a float.
inline uint16_t half_power(int exponent, bool negative) {
  return (uint16_t)((15 + exponent) << 10 | (negative ? 0x8000 : 0));
}
inline float power(int exponent, bool negative) {
  return std::ldexp(negative ? -1.0f : 1.0f, exponent);
}

// Packs the weights, multiplies a few rows by them, and compares with the product by `values`, n
// rows of k: exact, as both have few bits.
inline void expect_product(const Weights& w, const std::vector<float>& values, Draw* draw) {
  constexpr size_t m = 3;
  octet_error error = {};
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = w.type, rhs.order = OCTET_NK, rhs.n = w.n, rhs.k = w.k, rhs.data = w.data.data();
  rhs.zero_points = w.zeros.data(), rhs.zero_point_count = w.zeros.size();
  const bool in_blocks = w.block < w.k;
  if (in_blocks)
    rhs.scale_block = w.block, rhs.scale_type = w.scale_type, rhs.scales = w.scales.data();
  size_t bytes = 0;
  ASSERT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, &error), OCTET_OK) << error.message;
  const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  ASSERT_EQ(octet_pack(&rhs, OCTET_ISA_AUTO, blob.data(), bytes, &error), OCTET_OK)
      << error.message;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max = m, desc.n = w.n, desc.k = w.k;
  desc.lhs_type = OCTET_S8, desc.rhs_type = w.type, desc.dst_type = OCTET_F32;
  desc.packed = blob.data(), desc.packed_bytes = bytes;
  const float one = 1;
  desc.epilogue.scales = in_blocks ? &one : w.scales.data<float>();
  desc.epilogue.scale_count = in_blocks ? 1 : w.n;
  octet_gemm* gemm = nullptr;
  ASSERT_EQ(octet_gemm_create(&desc, &gemm, &error), OCTET_OK) << error.message;
  ASSERT_EQ(octet_gemm_workspace(gemm, m, 1, &bytes, &error), OCTET_OK);
  const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
  std::vector<int8_t> lhs(m * w.k);
  for (int8_t& x : lhs) x = (int8_t)draw->below(256);
  std::vector<float> dst(m * w.n);
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = m, args.lhs = lhs.data(), args.dst = dst.data();
  args.workspace = workspace.data(), args.workspace_bytes = bytes;
  EXPECT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK) << error.message;
  octet_gemm_destroy(gemm);
  std::vector<float> want(m * w.n);
  for (size_t i = 0; i < m; ++i)
    for (size_t n = 0; n < w.n; ++n)
      for (size_t k = 0; k < w.k; ++k) want[i * w.n + n] += lhs[i * w.k + k] * values[n * w.k + k];
  EXPECT_EQ(dst, want);
}

inline void import(const octet_qweight& from, Weights* w) {
  octet_error error = {};
  ASSERT_EQ(octet_import_qweight(&from, w->data.data(), w->scale_type, w->scales.data(),
                                 w->zeros.data(), &error),
            OCTET_OK)
      << error.message;
}

inline float value_of_half(uint16_t half) {
  const int exponent = half >> 10 & 31, mantissa = (half & 1023) + (exponent ? 1024 : 0);
  return std::ldexp((float)(half >> 15 ? -mantissa : mantissa), (exponent ? exponent : 1) - 25);
}

// Imports a tensor of GGUF as it is, whose values are to be these.
inline void expect_imported(octet_gguf_type type, const Guarded& blocks, size_t n, size_t k,
                            const float* values) {
  const bool bytes = type == OCTET_GGUF_Q8_0, has_minimums = type == OCTET_GGUF_Q4_1;
  const Guarded weights(n * k / (bytes ? 1 : 2), Side::kBack),
      scales(n * k / 32 * 2, Side::kBack, 2), minimums(n * k / 32 * 2, Side::kBack, 2);
  octet_error error = {};
  ASSERT_EQ(octet_import_gguf(type, blocks.data(), n, k, weights.data(), scales.data<uint16_t>(),
                              has_minimums ? minimums.data<uint16_t>() : nullptr, &error),
            OCTET_OK)
      << error.message;
  for (size_t i = 0; i < n * k; ++i) {
    const int nibble = weights.data()[i / (bytes ? 1 : 2)] >> (bytes ? 0 : i % 2 * 4) & 15;
    const int q = bytes ? (int8_t)weights.data()[i] : nibble - (has_minimums ? 0 : 8);
    float value = (float)q * value_of_half(scales.data<uint16_t>()[i / 32]);
    if (has_minimums) value += value_of_half(minimums.data<uint16_t>()[i / 32]);
    ASSERT_EQ(value, values[i]) << i;
  }
}

}  // namespace octet_test
