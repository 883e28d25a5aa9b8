// Rounds floats to bytes, half to even, in loops that become vectors.
#pragma once

#include <cstdint>
#include <cstring>

#include "bench/functions/widest.h"

namespace tool {

// Rounds values between least and most, which are whole numbers within +-2^20; other values become
// the nearer bound, NaN becomes least.
TOOL_INLINE int32_t round_within(float x, float least, float most) {
  constexpr float kUnits = 12582912;  // 1.5 * 2^23: floats beside it are 1 apart
  x = x > least ? x : least;
  x = x < most ? x : most;
  const float rounded = x + kUnits;
  int32_t bits, base;
  std::memcpy(&bits, &rounded, sizeof bits);
  std::memcpy(&base, &kUnits, sizeof base);
  return bits - base;
}

}  // namespace tool
