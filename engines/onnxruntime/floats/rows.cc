// SPDX-License-Identifier: Apache-2.0
// Normalizes rows of floats, and computes GELU. CMake compiles this file once for each tier, with
// its flags and its name as OCTET_TIER.
#include "engines/onnxruntime/floats/rows.h"

#include "engines/onnxruntime/floats/vectors.h"

namespace octet::onnxruntime {
namespace {

// 16 floats of a row, or its last ones with zeros behind them: what lies behind a row is not read.
struct Block {
  Vector parts[kParts];
};
struct Whole {
  static Block read(const float* from) {
    Block v;
    for (size_t p = 0; p < kParts; ++p) v.parts[p] = load(from + p * kLanes);
    return v;
  }
  static void write(const Block& v, float* to) {
    for (size_t p = 0; p < kParts; ++p) store(v.parts[p], to + p * kLanes);
  }
};
struct Rest {
  size_t count;
  Block read(const float* from) const {
    float lanes[kBlock] = {};
    memcpy(lanes, from, count * sizeof *from);
    return Whole::read(lanes);
  }
  void write(const Block& v, float* to) const { memcpy(to, &v, count * sizeof *to); }
};

template <typename Function>
inline void each_block(size_t n, const Function& function) {
  size_t i = 0;
  for (; i + kBlock <= n; i += kBlock) function(Whole{}, i);
  if (i < n) function(Rest{n - i}, i);
}

template <typename Part>
inline void add(const Part& part, const float* from, size_t i, Block* to) {
  if (!from) return;
  const Block other = part.read(from + i);
  for (size_t p = 0; p < kParts; ++p) to->parts[p] = to->parts[p] + other.parts[p];
}

// Writes the row to be normalized (x + added + bias) into the scratch and returns its sum.
float sum_row(const NormalizedRows& a, size_t row) {
  const float* const added = a.added ? a.added + row * a.n : nullptr;
  Vector sums[kParts] = {};
  each_block(a.n, [&](const auto& part, size_t i) {
    Block v = part.read(a.x + row * a.n + i);
    add(part, added, i, &v);
    add(part, a.bias, i, &v);
    for (size_t p = 0; p < kParts; ++p) sums[p] = sums[p] + v.parts[p];
    Whole::write(v, a.scratch + i);
    if (!a.sums) return;
    for (Vector& lanes : v.parts) lanes = one_nan(lanes);
    part.write(v, a.sums + row * a.n + i);
  });
  return sum_of(sums);
}

// Takes the mean from the scratch; returns the sum of the squares.
float center(float mean, size_t n, float* row) {
  Vector sums[kParts] = {};
  each_block(n, [&](const auto& part, size_t i) {
    Block v = Whole::read(row + i);
    for (Vector& lanes : v.parts) lanes = lanes - mean;
    part.write(v, row + i);
    v = part.read(row + i);  // with zeros behind the row
    for (size_t p = 0; p < kParts; ++p) sums[p] = sums[p] + v.parts[p] * v.parts[p];
  });
  return sum_of(sums);
}

void scale_row(const NormalizedRows& a, float by, float* to) {
  each_block(a.n, [&](const auto& part, size_t i) {
    const Block scale = part.read(a.scale + i);
    Block y = Whole::read(a.scratch + i);
    for (size_t p = 0; p < kParts; ++p) y.parts[p] = y.parts[p] * by * scale.parts[p];
    add(part, a.shift, i, &y);
    for (Vector& lanes : y.parts) lanes = one_nan(lanes);
    part.write(y, to + i);
  });
}

void normalize(const NormalizedRows& a) {
  const float n = (float)a.n;
  for (size_t row = 0; row < a.rows; ++row) {
    const float mean = sum_row(a, row) / n;
    const float variance = center(mean, a.n, a.scratch) / n;
    scale_row(a, 1 / __builtin_sqrtf(variance + a.epsilon), a.output + row * a.n);
  }
}

// x * (1 + erf(x / sqrt(2))) / 2. The erf is x * P(x^2) / Q(x^2) where x^2 is below 32, within
// 4e-7, and beyond that 1 in f32. The coefficients, the highest ones first, are those of the least
// largest relative error, rounded to f32.
inline Vector gelu_of(Vector x) {
  constexpr float kMost = 32;
  constexpr float kP[] = {0x1.a5fc8cp-17f, 0x1.67ec64p-12f, 0x1.339986p-7f, 0x1.18494ap-4f,
                          0x1.988452p-1f};
  constexpr float kQ[] = {0x1.36cb8p-14f, 0x1.f2511cp-10f, 0x1.d87a26p-6f, 0x1.027ceap-2f, 1};
  const Vector zero = {}, one = zero + 1, square = x * x;
  const Vector u = choose(square > kMost, zero + kMost, square);
  Vector p = zero + 0x1.791c38p-25f, q = zero + 0x1.39e69p-20f;
  for (const float term : kP) p = p * u + term;
  for (const float term : kQ) q = q * u + term;
  const Vector e = x * p / q;
  const Vector erf = choose(e > one, one, choose(e < -one, -one, e));
  return one_nan(0.5f * x * (1 + erf));
}

void gelu(const GeluRows& a) {
  const size_t n = a.bias ? a.n : a.rows * a.n, rows = a.bias ? a.rows : 1;
  for (size_t row = 0; row < rows; ++row)
    each_block(n, [&](const auto& part, size_t i) {
      Block v = part.read(a.x + row * n + i);
      add(part, a.bias, i, &v);
      for (Vector& lanes : v.parts) lanes = gelu_of(lanes);
      part.write(v, a.output + row * n + i);
    });
}

}  // namespace

#define OCTET_JOIN(a, b) a##b
#define OCTET_NAME(function, tier) OCTET_JOIN(function##_, tier)
extern const Normalize OCTET_NAME(normalize, OCTET_TIER);
extern const Gelu OCTET_NAME(gelu, OCTET_TIER);
const Normalize OCTET_NAME(normalize, OCTET_TIER) = normalize;
const Gelu OCTET_NAME(gelu, OCTET_TIER) = gelu;

}  // namespace octet::onnxruntime
