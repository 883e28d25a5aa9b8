// SPDX-License-Identifier: Apache-2.0
// Computes exponentials and logarithms without libm, which differs from system to system.
#pragma once

#include "kernels/generic/round.h"

namespace octet {
namespace {

// exp(x) with an error far below that of a float's rounding. Beyond +-150, which is far outside of
// floats, it is the value there.
inline double exponential(double x) {
  constexpr double kLog2 = 0x1.62e42fefa39efp-1;
  constexpr double kLog2High = 0x1.62e42fee00000p-1, kLog2Low = 0x1.a39ef35793c76p-33;
  x = x < -150 ? -150 : x > 150 ? 150 : x;
  const int k = (int)(x / kLog2 + (x < 0 ? -0.5 : 0.5));
  const double r = (x - k * kLog2High) - k * kLog2Low;  // within half of log(2)
  double sum = 1;
  for (int i = 14; i > 0; --i) sum = 1 + sum * r / i;
  for (int i = 0; i > k; --i) sum *= 0.5;
  for (int i = 0; i < k; ++i) sum *= 2;
  return sum;
}

// log(x) of a normal x above 0, with an error far below that of a float's rounding.
inline double logarithm(float x) {
  constexpr double kLog2 = 0x1.62e42fefa39efp-1;
  constexpr int32_t kOne = 127 << 23;  // the bits of 1
  const int32_t above = float_bits(x) - kOne, exponent = above >> 23;
  const double m = bits_float(kOne + above - exponent * (1 << 23));  // from 1 to 2
  const double s = (m - 1) / (m + 1);
  double sum = 0;
  for (int i = 39; i > 0; i -= 2) sum = sum * s * s + 1.0 / i;
  return exponent * kLog2 + 2 * s * sum;
}

}  // namespace
}  // namespace octet
