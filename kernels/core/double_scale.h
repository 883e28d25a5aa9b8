// SPDX-License-Identifier: Apache-2.0
// Defines double mode's product of an accumulator: clamped, and rounded once.
#pragma once

#include <stdint.h>

#include "kernels/core/strict_float.h"

namespace octet {
namespace {

// The largest double below 0.5. A value below one half stays below 1 with it.
constexpr double kBelowHalf = 0.49999999999999994;

// Halves away from zero. lo, hi: integers within +-2^22.
inline int32_t double_scale(double x, double factor, double lo, double hi) {
  double value = x * factor;
  value = value < lo ? lo : value;
  value = value > hi ? hi : value;
  return (int32_t)(value + (value < 0 ? -kBelowHalf : kBelowHalf));
}

}  // namespace
}  // namespace octet
