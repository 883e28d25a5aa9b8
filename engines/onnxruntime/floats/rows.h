// SPDX-License-Identifier: Apache-2.0
// Functions of rows of floats, with the same bytes on every CPU: each tier compiles them for
// itself. fl is a rounding to float; a NaN is stored as 0x7fc00000.
#pragma once

#include <stddef.h>

namespace octet::onnxruntime {

// Rows of n floats that lie behind each other.
struct NormalizedRows {
  size_t rows, n;
  const float *x, *added;      // added: to x, as much as x; null: nothing
  const float* bias;           // n, added to both; null: none
  float* sums;                 // gets what is normalized; null: only scratch does
  const float *scale, *shift;  // n each; shift: null is none
  float epsilon;
  float* output;   // rows x n; may be x or added
  float* scratch;  // n, rounded up to a multiple of 16
};

// y[i] = fl(fl(fl(d[i] * r) * scale[i]) + shift[i]), where
//
//   s[i] = fl(fl(x[i] + added[i]) + bias[i])
//   d[i] = fl(s[i] - fl(sum of s[i] / n))
//   r = fl(1 / fl(sqrt(fl(fl(sum of fl(d[i] * d[i]) / n) + epsilon))))
//
// Both sums are of 16 sums, one for each i % 16, which begin with 0 and add in the order of i; then
// sum i + 8 is added to sum i, and so on for 4, 2 and 1.
using Normalize = void (*)(const NormalizedRows& a);

// y[i] = fl(fl(0.5 * s) * fl(1 + e)), where s = fl(x[i] + bias[i]), and e, which is close to
// erf(s / sqrt(2)), a quotient of polynomials that ends at -1 and 1 (docs/engines.md).
struct GeluRows {
  size_t rows, n;
  const float *x, *bias;  // bias: n; null: none
  float* output;          // rows x n; may be x
};
using Gelu = void (*)(const GeluRows& a);

}  // namespace octet::onnxruntime
