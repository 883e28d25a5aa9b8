// SPDX-License-Identifier: Apache-2.0
#include "operators/epilogue/tflite_floats.h"

#include <initializer_list>

#include "kernels/core/strict_float.h"
#include "kernels/core/tflite_scale.h"

namespace octet {
namespace {

// The extremes of `first - t * less` modulo m, t from 0 to 255: one output more than bytes have
// fills vectors, which GCC 12 makes where this is not part of its caller.
struct Extremes {
  int32_t lo, hi;
};
__attribute__((noinline)) Extremes extremes_of(int64_t first, int64_t less, int32_t m) {
  constexpr int kLanes = 8;
  int32_t at[kLanes], lo[kLanes], hi[kLanes];
  for (int i = 0; i < kLanes; ++i, first -= less) {
    if (first < 0) first += m;
    at[i] = lo[i] = hi[i] = (int32_t)first;
  }
  const int32_t step = (int32_t)(kLanes * less % m);
  for (int t = kLanes; t < 256; t += kLanes)
    for (int i = 0; i < kLanes; ++i) {
      const int32_t next = at[i] - step;
      at[i] = next + (next >> 31 & m);
      lo[i] = at[i] < lo[i] ? at[i] : lo[i];
      hi[i] = at[i] > hi[i] ? at[i] : hi[i];
    }
  for (int i = 1; i < kLanes; ++i) {
    lo[0] = lo[i] < lo[0] ? lo[i] : lo[0];
    hi[0] = hi[i] > hi[0] ? hi[i] : hi[0];
  }
  return {lo[0], hi[0]};
}

// With right = -shift, S = 2^(31 + right) and C = S / 2 + 2^30, TFLite's two roundings give at
// least T > 0 where
//
//     x * multiplier + C - T * S >= 0
//
// and -T or less where this holds for -x and is not 0. So a factor and a `begin` will do if they
// put each x at which an output begins, and the one before it, on their sides of T by as much as
// fl may be wrong. Of multiplier + d, with few d, one nearly always does.
//
// The limits of begin, times S, for the factor (multiplier + d) / S. ties: a sum above is 0.
struct TfliteBegin {
  int64_t least, most;
  bool ties;
};
TfliteBegin tflite_begin(int64_t multiplier, int right, int64_t d) {
  const int64_t s = (int64_t)1 << (31 + right), c = s / 2 + ((int64_t)1 << 30);
  const int64_t steps = s / multiplier, less = s % multiplier;
  // x begins output T, whose sum above is `over`
  int64_t x = (s - c + multiplier - 1) / multiplier, over = x * multiplier + c - s;
  TfliteBegin limits = {s / 4, s - s / 256, false};
  const auto limit = [&](int64_t least, int64_t most) {
    if (least > limits.least) limits.least = least;
    if (most < limits.most) limits.most = most;
  };
  if (!d) {
    const Extremes all = extremes_of(over, less, (int32_t)multiplier);
    limit(c - all.lo, c + multiplier - all.hi);
    limits.ties = !all.lo;
    return limits;
  }
  for (int t = 0; t < 255; ++t) {
    limit(c - over - d * x, c + multiplier - over - d * (x - 1));
    limits.ties |= !over;
    x += steps, over -= less;
    if (over < 0) ++x, over += multiplier;
  }
  return limits;
}

// Of columns of one output, whose bias is the nearest to 0: sums lie where that output begins, at a
// half, and not near to where another one does.
constexpr float kOneBegins = 0.75f;

}  // namespace

bool gives_one_output(int64_t lo, int64_t hi, int32_t multiplier, int32_t shift) {
  if (lo < INT32_MIN || hi > INT32_MAX) return false;
  const int32_t output = tflite_scale((int32_t)lo, multiplier, shift);
  if (tflite_scale((int32_t)hi, multiplier, shift) != output) return false;
  const double unit = 1.0 / (double)((int64_t)1 << (31 - shift)),
               size = output < 0 ? -output : output,
               // More than floats are wrong by; x is rounded to the nearest one or towards zero
      near = (size + 1) / (1 << 20);
  for (const int64_t x : {lo, hi}) {
    const double sum = (x < 0 ? -(float)x : (float)x) * (double)multiplier * unit + kOneBegins;
    if (sum - near < size || sum + near >= size + 1) return false;
  }
  return true;
}

bool find_tflite_floats(int32_t multiplier, int32_t shift, bool negatives, float (&values)[3]) {
  values[kTfliteHigh] = values[kTfliteLow] = 0, values[kTfliteBegin] = 0.5f;
  if (!multiplier) return true;
  if (multiplier < 1 << 30 || shift > -1) return false;
  const int right = -shift;
  const float unit = 1.0f / (float)((int64_t)1 << (31 + right));
  const auto write = [&](int64_t factor, float begin) {
    values[kTfliteHigh] = (float)(factor & ~(int64_t)127) * unit;
    values[kTfliteLow] = (float)(factor & 127) * unit;
    values[kTfliteBegin] = begin;
  };
  if (shift < kLeastTfliteShift) return write(multiplier, kOneBegins), true;
  const int64_t wrong = (int64_t)1 << (31 + right - 24);
  for (int turn = 0; turn < 17; ++turn) {
    const int64_t size = turn ? (int64_t)1 << (turn - 1) / 2 : 0, d = turn % 2 ? size : -size,
                  factor = multiplier + d;
    const TfliteBegin limits = tflite_begin(multiplier, right, d);
    if (negatives && limits.ties) return false;
    if (limits.most - limits.least <= 3 * wrong) continue;
    write(factor, (float)(limits.least + (limits.most - limits.least) / 2) * unit);
    return true;
  }
  return false;
}

}  // namespace octet
