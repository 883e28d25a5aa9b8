// SPDX-License-Identifier: Apache-2.0
// Multiplies and adds with one rounding, on CPUs without such an instruction, too.
#pragma once

#include <stdint.h>

#include "kernels/core/compiler.h"
#include "kernels/core/strict_float.h"

namespace octet {
namespace {

// The float nearest to x * y + z, for x of at most 9 bits, y and z floats: x * y is exact as a
// double. So is the sum of terms that are near each other; of terms that are far apart, the double
// is rounded to odd, so that the float is rounded as if once (Boldo and Melquiond, 2008).
template <bool far>
OCTET_INLINE inline float fused(double x, double y, double z) {
  const double product = x * y, sum = product + z;
  if (!far) return (float)sum;
  const double of_z = sum - product, rest = (product - (sum - of_z)) + (z - of_z);
  int64_t bits;
  __builtin_memcpy(&bits, &sum, sizeof bits);
  if (rest != 0 && !(bits & 1)) bits += (rest > 0) == (sum > 0) ? 1 : -1;
  double odd;
  __builtin_memcpy(&odd, &bits, sizeof odd);
  return (float)odd;
}

}  // namespace
}  // namespace octet
