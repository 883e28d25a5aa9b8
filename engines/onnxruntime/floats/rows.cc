// Normalizes rows of floats, and computes GELU. CMake compiles this file once for each tier, with
// its flags and its name as OCTET_TIER.
#include "engines/onnxruntime/floats/rows.h"

#include "engines/onnxruntime/floats/vectors.h"

namespace octet::onnxruntime {
namespace {

// Up to 16 floats, with zeros behind them: what lies behind a row's end is not read.
struct Block {
  Vector parts[kParts];
  Block(const float* from, size_t count) {
    float lanes[kBlock] = {};
    memcpy(lanes, from, count * sizeof *from);
    memcpy(parts, lanes, sizeof lanes);
  }
};

inline void add(const float* to_add, size_t i, size_t count, Vector* parts) {
  if (!to_add) return;
  const Block other(to_add + i, count);
  for (size_t p = 0; p < kParts; ++p) parts[p] = parts[p] + other.parts[p];
}

// What is normalized, into the scratch; returns its sum.
float sum_row(const NormalizedRows& a, size_t row) {
  const float* const x = a.x + row * a.n;
  const float* const added = a.added ? a.added + row * a.n : nullptr;
  Vector sums[kParts] = {};
  const auto block = [&](size_t i, size_t count) {
    Block v(x + i, count);
    add(added, i, count, v.parts);
    add(a.bias, i, count, v.parts);
    for (size_t p = 0; p < kParts; ++p) {
      sums[p] = sums[p] + v.parts[p];
      store(v.parts[p], a.scratch + i + p * kLanes);
    }
  };
  size_t i = 0;
  for (; i + kBlock <= a.n; i += kBlock) block(i, kBlock);
  if (i < a.n) block(i, a.n - i);
  return sum_of(sums);
}

// Takes the mean from the scratch; returns the sum of the squares.
float center(float mean, size_t n, float* row) {
  Vector sums[kParts] = {};
  for (size_t i = 0; i < n; i += kBlock) {
    for (size_t p = 0; p < kParts; ++p)
      store(load(row + i + p * kLanes) - mean, row + i + p * kLanes);
    for (size_t k = n; k < i + kBlock; ++k) row[k] = 0;
    for (size_t p = 0; p < kParts; ++p) {
      const Vector d = load(row + i + p * kLanes);
      sums[p] = sums[p] + d * d;
    }
  }
  return sum_of(sums);
}

void scale_row(const NormalizedRows& a, float by, float* to) {
  const auto block = [&](size_t i, size_t count) {
    const Block scale(a.scale + i, count);
    Vector y[kParts];
    for (size_t p = 0; p < kParts; ++p)
      y[p] = load(a.scratch + i + p * kLanes) * by * scale.parts[p];
    add(a.shift, i, count, y);
    for (size_t p = 0; p < kParts; ++p) y[p] = one_nan(y[p]);
    memcpy(to + i, y, count * sizeof *to);
  };
  size_t i = 0;
  for (; i + kBlock <= a.n; i += kBlock) block(i, kBlock);
  if (i < a.n) block(i, a.n - i);
}

void store_sums(const float* from, size_t n, float* to) {
  for (size_t i = 0; i < n; i += kBlock) {
    Vector v[kParts];
    for (size_t p = 0; p < kParts; ++p) v[p] = one_nan(load(from + i + p * kLanes));
    memcpy(to + i, v, (n - i < kBlock ? n - i : kBlock) * sizeof *to);
  }
}

void normalize(const NormalizedRows& a) {
  const float n = (float)a.n;
  for (size_t row = 0; row < a.rows; ++row) {
    const float mean = sum_row(a, row) / n;
    if (a.sums) store_sums(a.scratch, a.n, a.sums + row * a.n);
    const float variance = center(mean, a.n, a.scratch) / n;
    scale_row(a, 1 / __builtin_sqrtf(variance + a.epsilon), a.output + row * a.n);
  }
}

// t * P(t^2) / Q(t^2) of t within 4, where erf is 1 in f32; within 4e-7 of it. The coefficients are
// those of the least largest relative error, rounded to f32.
inline Vector erf(Vector t) {
  constexpr float kMost = 4;
  constexpr float kP[] = {0x1.2a63fp-12f, 0x1.fd017ap-9f, 0x1.b302d6p-5f, 0x1.8c621ep-3f,
                          0x1.20dd74p+0f};
  constexpr float kQ[] = {0x1.36cb54p-10f, 0x1.f250b6p-7f, 0x1.d879ep-4f, 0x1.027cd6p-1f, 1};
  const Vector zero = {}, one = zero + 1;
  t = choose(t > kMost, zero + kMost, t);
  t = choose(t < -kMost, zero - kMost, t);
  const Vector u = t * t;
  Vector p = zero + 0x1.0aa8eep-19f, q = zero + 0x1.39e71cp-15f;
  for (const float term : kP) p = p * u + term;
  for (const float term : kQ) q = q * u + term;
  const Vector e = t * p / q;
  return choose(e > one, one, choose(e < -one, -one, e));
}

inline Vector gelu_of(Vector x) { return one_nan(0.5f * x * (1 + erf(x * 0x1.6a09e6p-1f))); }

void gelu(const GeluRows& a) {
  const size_t n = a.bias ? a.n : a.rows * a.n, rows = a.bias ? a.rows : 1;
  for (size_t row = 0; row < rows; ++row) {
    const float* const x = a.x + row * n;
    float* const to = a.output + row * n;
    const auto block = [&](size_t i, size_t count) {
      Block v(x + i, count);
      add(a.bias, i, count, v.parts);
      for (size_t p = 0; p < kParts; ++p) v.parts[p] = gelu_of(v.parts[p]);
      memcpy(to + i, v.parts, count * sizeof *to);
    };
    size_t i = 0;
    for (; i + kBlock <= n; i += kBlock) block(i, kBlock);
    if (i < n) block(i, n - i);
  }
}

}  // namespace

#define OCTET_JOIN(a, b) a##b
#define OCTET_NAME(function, tier) OCTET_JOIN(function##_, tier)
extern const Normalize OCTET_NAME(normalize, OCTET_TIER);
extern const Gelu OCTET_NAME(gelu, OCTET_TIER);
const Normalize OCTET_NAME(normalize, OCTET_TIER) = normalize;
const Gelu OCTET_NAME(gelu, OCTET_TIER) = gelu;

}  // namespace octet::onnxruntime
