// SPDX-License-Identifier: Apache-2.0
// Float operations as the numeric contract defines them, computed with integers, so that no
// CPU, rounding mode or float flag can affect them.
#pragma once

#include <stdint.h>

namespace octet {

struct Exact {  // mantissa * 2^exponent
  int64_t mantissa;
  int exponent;
};

constexpr int64_t power_of_2(int exponent) { return (int64_t)1 << exponent; }

// n / 2^bits, rounded half to even.
constexpr int64_t shift_half_even(int64_t n, int bits) {
  const int64_t floor = n >> bits, rest = n - floor * power_of_2(bits);
  return floor + (2 * rest + (floor & 1) > power_of_2(bits));
}

// Rounds once, to a float's 24 bits.
constexpr Exact to_float(Exact x) {
  const int64_t size = x.mantissa < 0 ? -x.mantissa : x.mantissa;
  const int bits = size < power_of_2(24) ? 0 : 40 - __builtin_clzll((unsigned long long)size);
  return {shift_half_even(x.mantissa, bits), x.exponent + bits};
}

// The product of two floats, rounded to a float.
constexpr Exact times(Exact a, Exact b) {
  return to_float({a.mantissa * b.mantissa, a.exponent + b.exponent});
}
constexpr Exact plus(Exact a, Exact b) {
  if (a.exponent < b.exponent) return plus(b, a);
  return to_float({a.mantissa * power_of_2(a.exponent - b.exponent) + b.mantissa, b.exponent});
}

constexpr int64_t to_integer(Exact x) {
  if (x.exponent >= 0) return x.mantissa * power_of_2(x.exponent);
  return x.exponent < -62 ? 0 : shift_half_even(x.mantissa, -x.exponent);
}

// The value as a float; no step of the conversion rounds.
constexpr float value(Exact x) {
  float v = (float)x.mantissa;
  for (int left = x.exponent; left;) {
    const int size = left < 0 ? -left : left, step = size < 16 ? size : 16;
    const float power = (float)power_of_2(step);
    v = left < 0 ? v * (1 / power) : v * power;
    left += left < 0 ? step : -step;
  }
  return v;
}

}  // namespace octet
