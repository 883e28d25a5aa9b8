// SPDX-License-Identifier: Apache-2.0
// Vectors of floats as wide as a tier's registers, for files that each tier compiles for itself.
// All of it is of internal linkage: a linker never takes one tier's code for another's.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if !defined(OCTET_STRICT_FLOAT)
#error "The bytes need -ffp-contract=off: cmake/strict_float.cmake has the flags"
#endif

namespace octet::onnxruntime {
namespace {

constexpr size_t kBytes = __BIGGEST_ALIGNMENT__ < 16   ? 16
                          : __BIGGEST_ALIGNMENT__ > 64 ? 64
                                                       : __BIGGEST_ALIGNMENT__;
constexpr size_t kLanes = kBytes / sizeof(float);
typedef float Vector __attribute__((vector_size(kBytes)));
typedef int32_t Integers __attribute__((vector_size(kBytes)));
typedef uint32_t Bits __attribute__((vector_size(kBytes)));

// A row is a sum of 16 sums, one for each index modulo 16, and so comes in blocks of 16.
constexpr size_t kBlock = 16, kParts = kBlock / kLanes;

inline Vector load(const float* from) {
  Vector v;
  memcpy(&v, from, sizeof v);
  return v;
}
inline void store(Vector v, float* to) { memcpy(to, &v, sizeof v); }

inline Vector choose(Integers condition, Vector a, Vector b) { return condition ? a : b; }

// CPUs differ in the bits of the NaNs that they make.
inline Vector one_nan(Vector v) {
  const Bits nan = Bits{} + 0x7fc00000u;
  return choose(v == v, v, (Vector)nan);
}

// The 16 sums in halves: i + 8 to i, i + 4, i + 2, i + 1.
inline float sum_of(const Vector (&sums)[kParts]) {
  float lanes[kBlock];
  memcpy(lanes, sums, sizeof lanes);
  for (size_t half = kBlock / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) lanes[i] = lanes[i] + lanes[i + half];
  return lanes[0];
}

}  // namespace
}  // namespace octet::onnxruntime
