// Takes the largest byte or s16 value of windows.
#pragma once

#include "kernels/generic/functions/windows.h"

namespace octet {
namespace {

// to[c] = the largest of N pixels' bytes, and of to[c] with kMore.
template <size_t N, bool kMore>
OCTET_LOOP void take_largest(uint8_t* __restrict to, const uint8_t* const* pixels, size_t n,
                             uint8_t flip) {
  const uint8_t* from[N];
  for (size_t i = 0; i < N; ++i) from[i] = pixels[i];
  for (size_t c = 0; c < n; ++c) {
    uint8_t largest = (kMore ? to[c] : from[0][c]) ^ flip;
#pragma GCC unroll 9
    for (size_t i = 0; i < N; ++i) {
      const uint8_t byte = from[i][c] ^ flip;
      largest = byte > largest ? byte : largest;
    }
    to[c] = largest ^ flip;
  }
}

OCTET_LOOP void clamp_bytes(uint8_t* to, size_t n, uint8_t least, uint8_t most, uint8_t flip) {
  for (size_t c = 0; c < n; ++c) {
    const uint8_t byte = to[c] ^ flip, above = byte > least ? byte : least;
    to[c] = (above < most ? above : most) ^ flip;
  }
}

// to[c] = the largest of N pixels' s16 values, and of to[c].
template <size_t N>
OCTET_LOOP void take_largest_s16(int16_t* __restrict to, const uint8_t* const* pixels, size_t n) {
  const int16_t* from[N];
  for (size_t i = 0; i < N; ++i) from[i] = (const int16_t*)pixels[i];
  for (size_t c = 0; c < n; ++c) {
    int16_t largest = to[c];
#pragma GCC unroll 4
    for (size_t i = 0; i < N; ++i) largest = from[i][c] > largest ? from[i][c] : largest;
    to[c] = largest;
  }
}

// The output begins at the least s16 value, which is clamped with all others.
inline void max_pool_s16(const MaxPool& f, const ImageCall& call) {
  constexpr size_t kPixels = 4;
  const int16_t least = (int16_t)f.least, most = (int16_t)f.most;
  const auto take = [&](uint8_t* to_bytes, const Span& rows, const Span& columns, size_t n) {
    int16_t* const to = (int16_t*)to_bytes;
    for (size_t c = 0; c < n; ++c) to[c] = least;
    for_each_group<kPixels>(call.input, rows, columns, [&](const uint8_t** pixels, size_t count) {
      for (size_t i = count; i < kPixels; ++i) pixels[i] = pixels[0];
      take_largest_s16<kPixels>(to, pixels, n);
    });
    for (size_t c = 0; c < n; ++c) to[c] = to[c] < most ? to[c] : most;
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

struct PoolBounds {
  uint8_t least, most, flip;
};

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
                        const PoolBounds& bounds) {
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
                             const PoolBounds& bounds) {
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

inline void max_pool_lines(const MaxPool& f, const ImageCall& call, const PoolBounds& bounds) {
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

// Windows of 2x2 and 3x3 are one group.
inline void max_pool(const MaxPool& f, const ImageCall& call) {
  if (f.element == sizeof(int16_t)) return max_pool_s16(f, call);
  constexpr size_t kFew = 4, kPixels = 9;
  const Bytes bytes(f.is_signed);
  const uint8_t flip = bytes.flip;
  const PoolBounds bounds = {(uint8_t)(f.least + bytes.zero), (uint8_t)(f.most + bytes.zero), flip};
  if (has_few_channels(f, call)) return max_pool_lines(f, call, bounds);
  const bool clamps = f.least > bytes.least || f.most < bytes.most;
  const auto take = [&](uint8_t* to, const Span& rows, const Span& columns, size_t n) {
    bool more = false;
    for_each_group<kPixels>(call.input, rows, columns, [&](const uint8_t** pixels, size_t count) {
      const size_t whole = count > kFew ? kPixels : kFew;
      for (size_t i = count; i < whole; ++i) pixels[i] = pixels[0];
      if (count > kFew)
        (more ? take_largest<kPixels, true> : take_largest<kPixels, false>)(to, pixels, n, flip);
      else
        (more ? take_largest<kFew, true> : take_largest<kFew, false>)(to, pixels, n, flip);
      more = true;
    });
    if (clamps) clamp_bytes(to, n, bounds.least, bounds.most, flip);
  };
  for_each_window(call, f.window, take);
}

}  // namespace
}  // namespace octet
