// SPDX-License-Identifier: Apache-2.0
// Computes softmax of 16-bit numbers over the channels of each pixel, as TensorFlow Lite does.
#pragma once

#include "kernels/core/tflite_scale.h"
#include "kernels/generic/functions/windows.h"

namespace octet {
namespace {

// The value at a number of 16 bits.
inline int32_t on_curve(const S16Curve& curve, int32_t x) {
  const int16_t* const piece = curve.ends + 256 + (x >> 7);
  return piece[0] + (((piece[1] - piece[0]) * (x & 127) + 64) >> 7);
}

// The places on the curve of exponentials.
OCTET_LOOP void places_below(const S16Softmax& f, int32_t largest, const int16_t* from, size_t n,
                             int16_t* __restrict to) {
  const int32_t multiplier = f.multiplier, shift = f.shift;
  for (size_t c = 0; c < n; ++c) {
    const int32_t place = tflite_scale(from[c] - largest, multiplier, shift) + INT16_MAX;
    to[c] = (int16_t)(place > INT16_MIN ? place : INT16_MIN);
  }
}

// An exponential times a factor fits 30 bits, as create has bounded the number of channels.
OCTET_LOOP void multiply_all(int32_t factor, int32_t shift, int16_t* values, size_t n) {
  const int32_t half = 1 << (shift - 1);
  for (size_t c = 0; c < n; ++c) {
    const int32_t share = (values[c] * factor + half) >> shift;
    values[c] = (int16_t)(share < INT16_MAX ? share : INT16_MAX);
  }
}

inline void softmax_pixel(const S16Softmax& f, const int16_t* from, size_t n, int16_t* to) {
  int16_t largest = INT16_MIN;
  for (size_t c = 0; c < n; ++c) largest = from[c] > largest ? from[c] : largest;
  places_below(f, largest, from, n, to);
  uint32_t sum = 0;  // of 2^15ths
  for (size_t c = 0; c < n; ++c) {
    to[c] = (int16_t)on_curve(f.exponentials, to[c]);
    sum += (uint32_t)to[c];
  }
  // The sum is (1 + x) * 2^(31 - above), 0 <= x <= 1, and the curve gives 1 / (1 + x)
  const int32_t above = __builtin_clz(sum);
  const auto scaled = (int32_t)((((int64_t)sum << (above - 1)) + (1 << 13)) >> 14);
  const int32_t x = scaled - (1 << 16) + INT16_MIN;
  multiply_all(on_curve(f.reciprocals, x < INT16_MAX ? x : INT16_MAX), 31 - above, to, n);
}

inline void softmax_s16(const S16Softmax& f, const ImageCall& call) {
  const ImageLines &in = call.input, &out = call.output;
  for (size_t y = call.first; y < call.end; ++y)
    for (size_t x = 0; x < out.w; ++x)
      softmax_pixel(f, (const int16_t*)(line_of(in, y) + x * in.pixel), out.channels,
                    (int16_t*)(line_of(out, y) + x * out.pixel));
}

}  // namespace
}  // namespace octet
