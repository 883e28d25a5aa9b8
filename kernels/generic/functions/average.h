// SPDX-License-Identifier: Apache-2.0
// Averages windows and whole images, in each engine's arithmetic.
#pragma once

#include "kernels/core/tflite_scale.h"
#include "kernels/generic/functions/windows.h"
#include "kernels/generic/round.h"

namespace octet {
namespace {

// ---- sums

constexpr size_t kShortCount = 128;  // pixels whose sum fits 16 bits
constexpr size_t kSummed = 4;        // pixels at a time

// sums[c] += value(byte c) of each pixel, one after the other.
template <typename Sum, typename Value>
OCTET_LOOP void add_pixels(Sum* __restrict sums, const uint8_t* const* pixels, size_t n,
                           const Value& value_of) {
  const uint8_t* from[kSummed];
  for (size_t i = 0; i < kSummed; ++i) from[i] = pixels[i];
  const Value value = value_of;
  for (size_t c = 0; c < n; ++c) {
    Sum sum = sums[c];
#pragma GCC unroll 4
    for (size_t i = 0; i < kSummed; ++i) sum = (Sum)(sum + value(from[i][c]));
    sums[c] = sum;
  }
}

// Sums of n channels, from `first` on, over a window. Value::nothing is the byte of value 0, which
// fills the last group of pixels.
template <typename Sum, typename Value>
inline void sum_window(const ImageLines& in, const Span& rows, const Span& columns, size_t first,
                       size_t n, Sum* sums, const Value& value) {
  uint8_t nothing[kChunk];
  if ((rows.end - rows.begin) * (columns.end - columns.begin) % kSummed)
    __builtin_memset(nothing, value.nothing, n);
  for (size_t c = 0; c < n; ++c) sums[c] = 0;
  for_each_group<kSummed>(in, rows, columns, [&](const uint8_t** pixels, size_t count) {
    for (size_t i = 0; i < kSummed; ++i) pixels[i] = i < count ? pixels[i] + first : nothing;
    add_pixels(sums, pixels, n, value);
  });
}

// The byte as a number from 0 to 255.
struct Flipped {
  uint8_t nothing;
  int16_t operator()(uint8_t byte) const { return byte ^ nothing; }
};

// Sums of bytes from 0 to 255; few of them are added in 16 bits.
OCTET_LOOP void sum_bytes(const ImageLines& in, const Span& rows, const Span& columns, size_t first,
                          size_t n, uint8_t flip, int32_t* sums) {
  const Flipped value = {flip};
  if ((rows.end - rows.begin) * (columns.end - columns.begin) > kShortCount)
    return sum_window(in, rows, columns, first, n, sums, value);
  int16_t few[kChunk];
  sum_window(in, rows, columns, first, n, few, value);
  for (size_t c = 0; c < n; ++c) sums[c] = few[c];
}

// Sums of s16 values.
OCTET_LOOP void sum_s16(const ImageLines& in, const Span& rows, const Span& columns, size_t first,
                        size_t n, int32_t* __restrict sums) {
  for (size_t c = 0; c < n; ++c) sums[c] = 0;
  for (size_t y = rows.begin; y < rows.end; ++y)
    for (size_t x = columns.begin; x < columns.end; ++x) {
      const int16_t* const from = (const int16_t*)(line_of(in, y) + x * in.pixel) + first;
      for (size_t c = 0; c < n; ++c) sums[c] += from[c];
    }
}

// The real number; that of the zero point is 0.
struct Real {
  uint8_t nothing, flip;
  int32_t zero;
  float scale;
  float operator()(uint8_t byte) const { return (float)((byte ^ flip) - zero) * scale; }
};

// ---- averages of windows

// The truncated quotient of integers: one of floats cannot round up to a whole number below 2^24,
// one of doubles below 2^31.
constexpr size_t kFloatCount = (size_t)1 << 15;

template <typename Real, typename To>
OCTET_LOOP void divide_tflite(const AveragePool& f, const int32_t* sums, int32_t count,
                              int32_t zero, To* __restrict to, size_t n) {
  const int32_t half = count / 2, least = f.least, most = f.most;
  const Real divisor = (Real)count;
  for (size_t c = 0; c < n; ++c) {
    const int32_t sum = sums[c] - zero, moved = sum > 0 ? sum + half : sum - half;
    const int32_t value = (int32_t)((Real)moved / divisor);
    const int32_t above = value > least ? value : least;
    to[c] = (To)(above < most ? above : most);
  }
}

inline void average_tflite(const AveragePool& f, const ImageLines& in, const Span& rows,
                           const Span& columns, size_t first, size_t n, uint8_t* to) {
  const Bytes bytes(f.is_signed);
  const size_t count = (rows.end - rows.begin) * (columns.end - columns.begin);
  const int32_t pixels = (int32_t)count, zero = pixels * bytes.zero;
  int32_t sums[kChunk];
  sum_bytes(in, rows, columns, first, n, bytes.flip, sums);
  (count <= kFloatCount ? divide_tflite<float, uint8_t>
                        : divide_tflite<double, uint8_t>)(f, sums, pixels, zero, to, n);
}

inline void average_s16(const AveragePool& f, const ImageLines& in, const Span& rows,
                        const Span& columns, size_t first, size_t n, uint8_t* to) {
  const auto count = (int32_t)((rows.end - rows.begin) * (columns.end - columns.begin));
  int32_t sums[kChunk];
  sum_s16(in, rows, columns, first, n, sums);
  divide_tflite<double>(f, sums, count, 0, (int16_t*)to, n);
}

OCTET_LOOP void divide_float(const AveragePool& f, const float* sums, float count,
                             uint8_t* __restrict to, size_t n) {
  const int32_t after = f.kind == AverageKind::kQLinear ? 0 : f.out_zero_point;
  const float out_scale = f.out_scale, before = (float)(f.out_zero_point - after),
              least = (float)(f.least - after), most = (float)(f.most - after);
  for (size_t c = 0; c < n; ++c)
    to[c] = (uint8_t)(round_within(sums[c] / count / out_scale + before, least, most) + after);
}

inline void average_float(const AveragePool& f, const ImageLines& in, const Span& rows,
                          const Span& columns, size_t first, size_t n, uint8_t* to) {
  const Bytes bytes(f.is_signed);
  const int32_t zero = f.zero_point + bytes.zero;
  const size_t count = f.counts_padding ? f.window.kernel_h * f.window.kernel_w
                                        : (rows.end - rows.begin) * (columns.end - columns.begin);
  float sums[kChunk];
  sum_window(in, rows, columns, first, n, sums,
             Real{(uint8_t)(zero ^ bytes.flip), bytes.flip, zero, f.scale});
  divide_float(f, sums, (float)count, to, n);
}

inline void average_pool(const AveragePool& f, const ImageCall& call) {
  const auto average = f.element == sizeof(int16_t)     ? average_s16
                       : f.kind == AverageKind::kTflite ? average_tflite
                                                        : average_float;
  const auto take = [&](uint8_t* to, const Span& rows, const Span& columns, size_t channels) {
    for_each_chunk(channels, [&](size_t first, size_t n) {
      average(f, call.input, rows, columns, first, n, to + first * f.element);
    });
  };
  for_each_window(call, f.window, take);
}

// ---- means of images

// One at a time: vectors of 64 bits take 3 KB of code, for a pixel of an image.
OCTET_LOOP int32_t finish_tflite(const Mean& f, int32_t sum) {
  const int64_t value = (int64_t)tflite_scale(sum, f.multiplier, f.shift) + f.out_zero_point;
  const int64_t above = value > f.least ? value : f.least;
  return (int32_t)(above < f.most ? above : f.most);
}

OCTET_LOOP void finish_mean(const Mean& f, const int32_t* sums, int32_t signed_zero,
                            uint8_t* __restrict to, size_t n) {
  const int32_t zero = f.out_zero_point, addend = f.addend + signed_zero;
  const float factor = f.factor, offset = f.offset;
  const float least = (float)f.least, most = (float)f.most;
  if (f.kind == MeanKind::kXnnpack) {
    for (size_t c = 0; c < n; ++c)
      to[c] = (uint8_t)round_within((float)(sums[c] - signed_zero) * factor + offset, least, most);
  } else if (f.kind == MeanKind::kQLinear) {
    const float low = least - (float)zero, high = most - (float)zero;
    for (size_t c = 0; c < n; ++c)
      to[c] = (uint8_t)(round_within((float)(sums[c] - addend) * factor, low, high) + zero);
  } else {
    for (size_t c = 0; c < n; ++c) to[c] = (uint8_t)finish_tflite(f, sums[c] - addend);
  }
}

// The output is one pixel.
inline void mean_s16(const Mean& f, const ImageCall& call) {
  const Span rows = {0, call.input.h}, columns = {0, call.input.w};
  int16_t* const to = (int16_t*)line_of(call.output, 0);
  for_each_chunk(call.output.channels, [&](size_t first, size_t n) {
    int32_t sums[kChunk];
    sum_s16(call.input, rows, columns, first, n, sums);
    for (size_t c = 0; c < n; ++c) to[first + c] = (int16_t)finish_tflite(f, sums[c]);
  });
}

inline void mean(const Mean& f, const ImageCall& call) {
  if (f.element == sizeof(int16_t)) return mean_s16(f, call);
  const Bytes bytes(f.is_signed);
  const Span rows = {0, call.input.h}, columns = {0, call.input.w};
  const int32_t zero = (int32_t)(call.input.h * call.input.w) * bytes.zero;
  uint8_t* const to = line_of(call.output, 0);
  for_each_chunk(call.output.channels, [&](size_t first, size_t n) {
    int32_t sums[kChunk];
    sum_bytes(call.input, rows, columns, first, n, bytes.flip, sums);
    finish_mean(f, sums, zero, to + first, n);
  });
}

}  // namespace
}  // namespace octet
