// SPDX-License-Identifier: Apache-2.0
// Takes the largest byte or s16 value of windows.
#pragma once

#include "kernels/generic/functions/windows.h"

namespace octet {
namespace {

// to[c] = the largest of N pixels' values, and of to[c] with kMore. Bytes of s8 are compared with
// the top bit flipped.
template <size_t N, bool kMore, typename T>
OCTET_LOOP void take_largest(T* __restrict to, const uint8_t* const* pixels, size_t n, T flip) {
  const T* from[N];
  for (size_t i = 0; i < N; ++i) from[i] = (const T*)pixels[i];
  for (size_t c = 0; c < n; ++c) {
    T largest = (T)((kMore ? to[c] : from[0][c]) ^ flip);
#pragma GCC unroll 9
    for (size_t i = 0; i < N; ++i) {
      const T value = (T)(from[i][c] ^ flip);
      largest = value > largest ? value : largest;
    }
    to[c] = (T)(largest ^ flip);
  }
}

// Of values, least and most after the flip.
template <typename T>
struct PoolBounds {
  T least, most, flip;
};

template <typename T>
OCTET_LOOP void clamp_all(T* to, size_t n, const PoolBounds<T>& bounds) {
  const T least = bounds.least, most = bounds.most, flip = bounds.flip;
  for (size_t c = 0; c < n; ++c) {
    const T value = (T)(to[c] ^ flip), above = value > least ? value : least;
    to[c] = (T)((above < most ? above : most) ^ flip);
  }
}

// Windows of 2x2 and 3x3 are one group.
template <typename T>
inline void max_pool_windows(const MaxPool& f, const ImageCall& call, const PoolBounds<T>& bounds,
                             bool clamps) {
  constexpr size_t kFew = 4, kPixels = 9;
  const T flip = bounds.flip;
  const auto take = [&](uint8_t* to_bytes, const Span& rows, const Span& columns, size_t n) {
    T* const to = (T*)to_bytes;
    bool more = false;
    for_each_group<kPixels>(call.input, rows, columns, [&](const uint8_t** pixels, size_t count) {
      const size_t whole = count > kFew ? kPixels : kFew;
      for (size_t i = count; i < whole; ++i) pixels[i] = pixels[0];
      if (count > kFew)
        (more ? take_largest<kPixels, true, T> : take_largest<kPixels, false, T>)(to, pixels, n,
                                                                                  flip);
      else
        (more ? take_largest<kFew, true, T> : take_largest<kFew, false, T>)(to, pixels, n, flip);
      more = true;
    });
    if (clamps) clamp_all(to, n, bounds);
  };
  for_each_window(call, f.window, take);
}

// ---- few channels: lines of a window first, along which vectors are full

constexpr size_t kPooled = 2048;  // bytes of a line at a time
constexpr size_t kFewColumns = 3, kFewChannels = 64;

inline bool has_few_channels(const MaxPool& f, const ImageCall& call) {
  const ImageLines &in = call.input, &out = call.output;
  return in.pixel == in.channels && out.pixel == out.channels && out.channels < kFewChannels &&
         f.window.kernel_w <= kFewColumns && f.window.stride_w <= kFewColumns;
}

// to = the larger of to and a flipped line; the line alone with kFirst.
template <bool kFirst>
OCTET_LOOP void take_line(uint8_t* __restrict to, const uint8_t* line, size_t bytes, uint8_t flip) {
  for (size_t i = 0; i < bytes; ++i) {
    const uint8_t byte = line[i] ^ flip;
    to[i] = kFirst || byte > to[i] ? byte : to[i];
  }
}

// The largest of flipped pixels that are `channels` bytes apart.
template <size_t pixels>
inline void take_pixels(uint8_t* __restrict to, const uint8_t* from, size_t channels, size_t n,
                        const PoolBounds<uint8_t>& bounds) {
  const uint8_t least = bounds.least, most = bounds.most, flip = bounds.flip;
  for (size_t c = 0; c < n; ++c) {
    uint8_t largest = least;
#pragma GCC unroll 3
    for (size_t i = 0; i < pixels; ++i) {
      const uint8_t byte = from[i * channels + c];
      largest = byte > largest ? byte : largest;
    }
    to[c] = (largest < most ? largest : most) ^ flip;
  }
}

// Output pixels [x, end) of a line of flipped input columns, the first of which is `first`.
OCTET_LOOP void take_columns(const MaxPool& f, const ImageCall& call, size_t x, size_t end,
                             size_t first, const uint8_t* from, uint8_t* to,
                             const PoolBounds<uint8_t>& bounds) {
  const ImageWindow& w = f.window;
  const size_t channels = call.output.channels;
  for (to += x * channels; x < end; ++x, to += channels) {
    const Span columns = span_of(x, w.kernel_w, w.stride_w, w.pad_left, call.input.w);
    const size_t n = with_overrun(channels, room_from(call.output, x, channels));
    const uint8_t* const pixel = from + (columns.begin - first) * channels;
    switch (columns.end - columns.begin) {
      case 1: take_pixels<1>(to, pixel, channels, n, bounds); break;
      case 2: take_pixels<2>(to, pixel, channels, n, bounds); break;
      default: take_pixels<3>(to, pixel, channels, n, bounds);
    }
  }
}

inline void max_pool_lines(const MaxPool& f, const ImageCall& call,
                           const PoolBounds<uint8_t>& bounds) {
  const ImageLines &in = call.input, &out = call.output;
  const ImageWindow& w = f.window;
  uint8_t largest[kPooled + kFewColumns * kFewChannels];
  const size_t step = kPooled / (w.stride_w * in.channels);
  for (size_t y = call.first; y < call.end; ++y) {
    const Span rows = span_of(y, w.kernel_h, w.stride_h, w.pad_top, in.h);
    for (size_t x = 0, end; x < out.w; x = end) {
      end = out.w - x < step ? out.w : x + step;
      const size_t first = span_of(x, w.kernel_w, w.stride_w, w.pad_left, in.w).begin,
                   last = span_of(end - 1, w.kernel_w, w.stride_w, w.pad_left, in.w).end,
                   at = first * in.channels, bytes = last * in.channels - at;
      for (size_t row = rows.begin; row < rows.end; ++row)
        (row == rows.begin ? take_line<true> : take_line<false>)(largest, line_of(in, row) + at,
                                                                 bytes, bounds.flip);
      take_columns(f, call, x, end, first, largest, line_of(out, y), bounds);
    }
  }
}

inline void max_pool(const MaxPool& f, const ImageCall& call) {
  if (f.element == sizeof(int16_t))
    return max_pool_windows<int16_t>(f, call, {(int16_t)f.least, (int16_t)f.most, 0},
                                     f.least > INT16_MIN || f.most < INT16_MAX);
  const Bytes bytes(f.is_signed);
  const PoolBounds<uint8_t> bounds = {(uint8_t)(f.least + bytes.zero),
                                      (uint8_t)(f.most + bytes.zero), bytes.flip};
  if (has_few_channels(f, call)) return max_pool_lines(f, call, bounds);
  max_pool_windows(f, call, bounds, f.least > bytes.least || f.most < bytes.most);
}

}  // namespace
}  // namespace octet
