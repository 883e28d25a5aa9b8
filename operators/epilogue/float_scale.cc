// SPDX-License-Identifier: Apache-2.0
// Compares float mode and double mode. Neither falls as accumulators rise, so that they are one
// function if each output begins at the same accumulator.
#include "operators/epilogue/float_scale.h"

#include <string.h>

#include "kernels/core/double_scale.h"

namespace octet {
namespace {

// Float mode rounds three times, each time by up to 2^-24 of the value, and its scale may be the
// second float from the factor on, 3 * 2^-24 away. The rounding of double mode is nothing beside
// that.
constexpr double kError = 0x1p-21;

// Whole numbers below 2^22 are rounded half to even by an addition.
float rounded(float x) { return (x + 12582912.0f) - 12582912.0f; }
double rounded(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

float in_float(int32_t acc, float scale, const Epilogue& f) {
  const float x = (float)acc * scale;
  return rounded(x < f.lo_f32 ? f.lo_f32 : x > f.hi_f32 ? f.hi_f32 : x);
}

bool are_alike(double factor, float scale, const Epilogue& f) {
  const double step = 1 / factor;
  for (float output = f.lo_f32 + 1; output <= f.hi_f32; ++output) {
    // The accumulator, no integer, that falls on the half before this output
    const double begin = ((double)output - 0.5) * step, size = begin < 0 ? -begin : begin;
    if (size > 0x1p31 * (1 + kError)) continue;  // neither mode gets there
    const double room = (size + 1) * kError;
    // An accumulator that is further away is on the same side of the half in both modes. One
    // accumulator at most is not
    if (room > 0.25) return false;
    const double nearest = rounded(begin), apart = nearest - begin;
    if (apart > room || apart < -room) continue;
    const bool there =
        double_scale(nearest, factor, (double)f.lo_f32, (double)f.hi_f32) >= (int32_t)output;
    if (there != (in_float((int32_t)nearest, scale, f) >= output)) return false;
  }
  return true;
}

}  // namespace

float float_scale_of(double factor, const Epilogue& plan) {
  const float nearest = (float)factor;
  if (!(nearest >= 0x1p-100f)) return 0;
  uint32_t bits;
  memcpy(&bits, &nearest, sizeof bits);
  const uint32_t neighbours[] = {bits, bits + 1, bits - 1};
  for (const uint32_t& neighbour : neighbours) {
    float scale;
    memcpy(&scale, &neighbour, sizeof scale);
    if (are_alike(factor, scale, plan)) return scale;
  }
  return 0;
}

}  // namespace octet
