// SPDX-License-Identifier: Apache-2.0
// Multiplies and exponentiates rows of floats in vectors. CMake compiles this file once for each
// tier, with its flags and its name as OCTET_TIER: so it includes no header that has functions of
// external linkage, which a linker could merge with those of files without these flags.
#include "engines/onnxruntime/floats/attention_rows.h"

#include "engines/onnxruntime/floats/vectors.h"

namespace octet::onnxruntime {
namespace {

static_assert(kAttentionPadding == kBlock);

constexpr float kInfinity = __builtin_inff();

// Rows of a by 16 columns of b: as many sums as registers hold, each in the order of depth.
template <size_t kRows>
void multiply_tile(size_t depth, const float* a, size_t a_stride, const float* b, size_t b_stride,
                   float* c, size_t c_stride) {
  Vector sums[kRows][kParts] = {};
  for (size_t k = 0; k < depth; ++k)
    for (size_t part = 0; part < kParts; ++part) {
      const Vector right = load(b + k * b_stride + part * kLanes);
      for (size_t i = 0; i < kRows; ++i)
        sums[i][part] = sums[i][part] + a[i * a_stride + k] * right;
    }
  for (size_t i = 0; i < kRows; ++i)
    for (size_t part = 0; part < kParts; ++part)
      store(sums[i][part], c + i * c_stride + part * kLanes);
}

void multiply(size_t rows, size_t columns, size_t depth, const float* a, size_t a_stride,
              const float* b, float* c) {
  constexpr size_t kRows = 8 / kParts;
  for (size_t n = 0; n < columns; n += kAttentionPadding) {
    size_t i = 0;
    for (; i + kRows <= rows; i += kRows)
      multiply_tile<kRows>(depth, a + i * a_stride, a_stride, b + n, columns, c + i * columns + n,
                           columns);
    for (; i < rows; ++i)
      multiply_tile<1>(depth, a + i * a_stride, a_stride, b + n, columns, c + i * columns + n,
                       columns);
  }
}

// exp(x) of x that is at most 0, within 2 units in the last place; 0 below -87, so that no result
// is denormal. x = n * log(2) + r with |r| up to half of log(2): 2^n is an exponent, and exp(r) its
// series up to r^7 / 7!.
inline Vector exponential(Vector x) {
  constexpr float kLeast = -87, kAbove = 12582912;  // 1.5 * 2^23, where floats are integers
  constexpr float kPerLog2 = 0x1.715476p+0f;
  constexpr float kLog2High = 0x1.63p-1f, kLog2Low = -0x1.bd0106p-13f;  // n * kLog2High is exact
  constexpr float kTerms[] = {1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1, 1};
  const Vector zero = {};
  const Integers is_small = x < kLeast;
  const Vector bounded = choose(is_small, zero + kLeast, x);
  const Vector shifted = bounded * kPerLog2 + kAbove, n = shifted - kAbove;
  const Vector r = (bounded - n * kLog2High) - n * kLog2Low;
  Vector sum = r * (1.0f / 5040) + 1.0f / 720;
  for (const float term : kTerms) sum = sum * r + term;
  const Bits power = ((Bits)shifted << 23) + (127u << 23);
  return choose(is_small, zero, sum * (Vector)power);
}

// Adds the mask to scores times their scale; returns the largest one.
float mask_scores(float scale, const float* mask, float* scores, size_t count) {
  Vector largest[kParts];
  for (Vector& v : largest) v = Vector{} - kInfinity;
  for (size_t t = 0; t < count; t += kAttentionPadding)
    for (size_t part = 0; part < kParts; ++part) {
      float* const at = scores + t + part * kLanes;
      const Vector score = load(at) * scale + load(mask + t + part * kLanes);
      store(score, at);
      largest[part] = choose(score > largest[part], score, largest[part]);
    }
  float lanes[kAttentionPadding];
  memcpy(lanes, largest, sizeof lanes);
  for (size_t half = kAttentionPadding / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i)
      lanes[i] = lanes[i] > lanes[i + half] ? lanes[i] : lanes[i + half];
  return lanes[0];
}

// Scores become exponentials; returns their sum.
float exponentiate(float most, float* scores, size_t count) {
  Vector sums[kParts] = {};
  for (size_t t = 0; t < count; t += kAttentionPadding)
    for (size_t part = 0; part < kParts; ++part) {
      float* const at = scores + t + part * kLanes;
      const Vector e = exponential(load(at) - most);
      store(e, at);
      sums[part] = sums[part] + e;
    }
  return sum_of(sums);
}

void divide(const float* from, float by, float* to, size_t count) {
  constexpr uint32_t kNan = 0x7fc00000;
  float nan;
  memcpy(&nan, &kNan, sizeof nan);
  for (size_t i = 0; i < count; ++i) {
    const float quotient = from[i] / by;
    to[i] = quotient == quotient ? quotient : nan;
  }
}

void attend(const AttentionRows& a) {
  multiply(a.rows, a.padded_tokens, a.depth, a.queries, a.query_stride, a.keys, a.scores);
  // One row's sum or largest score takes as long as some vectors: those of the next row run
  // meanwhile.
  float* const most = a.sums;
  for (size_t i = 0; i < a.rows; ++i)
    most[i] = mask_scores(a.scale, a.masks + i * a.mask_stride, a.scores + i * a.padded_tokens,
                          a.padded_tokens);
  for (size_t i = 0; i < a.rows; ++i)
    a.sums[i] = exponentiate(most[i], a.scores + i * a.padded_tokens, a.padded_tokens);
  multiply(a.rows, a.padded_depth, a.tokens, a.scores, a.padded_tokens, a.values, a.weighted);
  for (size_t i = 0; i < a.rows; ++i)
    divide(a.weighted + i * a.padded_depth, a.sums[i], a.output + i * a.output_stride, a.depth);
}

}  // namespace

#define OCTET_JOIN(a, b) a##b
#define OCTET_NAME(tier) OCTET_JOIN(attend_, tier)
extern const Attend OCTET_NAME(OCTET_TIER);
const Attend OCTET_NAME(OCTET_TIER) = attend;

}  // namespace octet::onnxruntime
