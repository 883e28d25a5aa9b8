// Defines double mode's product of an accumulator: clamped, and rounded once.
#pragma once

#include <stdint.h>

#include "kernels/core/strict_float.h"

namespace octet {
namespace {

// Halves away from zero. All that is below one half stays below 1, for the largest double below 0.5
// is added to it. lo, hi: integers within +-2^22.
inline int32_t double_scale(double x, double factor, double lo, double hi) {
  constexpr double kBelowHalf = 0.49999999999999994;
  double value = x * factor;
  value = value < lo ? lo : value;
  value = value > hi ? hi : value;
  return (int32_t)(value + (value < 0 ? -kBelowHalf : kBelowHalf));
}

}  // namespace
}  // namespace octet
