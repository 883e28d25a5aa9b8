// SPDX-License-Identifier: Apache-2.0
// Resizes images by repetition and by linear interpolation, in each engine's arithmetic.
#pragma once

#include "kernels/generic/functions/windows.h"
#include "kernels/generic/round.h"

namespace octet {
namespace {

inline void resize_nearest(const Resize& f, const ImageCall& call) {
  const ImageLines &in = call.input, &out = call.output;
  const size_t bytes = out.channels * f.element;
  for (size_t y = call.first; y < call.end; ++y) {
    uint8_t* const to = line_of(out, y);
    if (y > call.first && f.lines[y].low == f.lines[y - 1].low && out.pixel == bytes) {
      __builtin_memcpy(to, line_of(out, y - 1), out.w * bytes);
      continue;
    }
    const uint8_t* const from = line_of(in, f.lines[y].low);
    for (size_t x = 0; x < out.w; ++x)
      __builtin_memcpy(to + x * out.pixel, from + f.pixels[x].low * in.pixel, bytes);
  }
}

// The four input pixels of an output: of the lower line, then of the higher one.
struct Corners {
  const uint8_t *a, *b, *c, *d;
};

// The sum of byte * weight, of 2^20 together, rounded with halves away from 0.
struct TfliteSum {
  static constexpr int32_t kOne = 1 << 10;  // a weight of 1
  const Bytes value;
  uint8_t rounded(int32_t sum) const { return (uint8_t)((sum + (sum >> 31) + (1 << 19)) >> 20); }
};

// The sum of byte * weight, of 2^22 together, rounded with halves up: flipped bytes round alike.
struct XnnpackSum {
  static constexpr int32_t kOne = 1 << 11;
  struct {
    uint8_t flip;
    int32_t operator()(uint8_t byte) const { return byte ^ flip; }
  } value;
  uint8_t rounded(int32_t sum) const { return (uint8_t)((sum + (1 << 21)) >> 22) ^ value.flip; }
};

constexpr size_t kSums = 640;  // of a line, at a time: six arrays stay in the first cache level
constexpr size_t kOverrun = 16;

// Output pixels of some channels. Of input pixels below `wide_end` as many channels as fill vectors
// are read: what comes of those behind a pixel's is overwritten by the next pixel.
struct Columns {
  const ResizePlace* pixels;
  size_t count, channels, wide_end;
  size_t wide() const { return (channels + kOverrun - 1) / kOverrun * kOverrun; }
  size_t read_at(size_t high) const { return high < wide_end ? wide() : channels; }
};

// Integers: an input line's sums along output pixels. They are exact, so the horizontal half of the
// work is done once for all lines that lie between the same two.
template <typename Sum>
struct SummedLine {
  static constexpr size_t kMost = kSums;
  int32_t sums[kSums + kOverrun];

  OCTET_LOOP void read(const Sum& sum, const uint8_t* line, size_t pixel_bytes, const Columns& c) {
    const Sum by = sum;
    int32_t* __restrict to = sums;
    for (size_t x = 0; x < c.count; ++x, to += c.channels) {
      const uint8_t *const left = line + c.pixels[x].low * pixel_bytes, *const right =
                                                                            line +
                                                                            c.pixels[x].high *
                                                                                pixel_bytes;
      const int32_t h = c.pixels[x].part;
      for (size_t i = 0, n = c.read_at(c.pixels[x].high); i < n; ++i)
        to[i] = by.value(left[i]) * (Sum::kOne - h) + by.value(right[i]) * h;
    }
  }
  struct Weights {
    explicit Weights(const Columns&) {}
  };
  // n outputs from number `first` on
  OCTET_LOOP static void blend(const Sum& sum, const SummedLine& low_line,
                               const SummedLine& high_line, const Weights&,
                               const ResizePlace& place, size_t first, uint8_t* __restrict to,
                               size_t n) {
    const Sum by = sum;
    const int32_t *const low = low_line.sums + first, *const high = high_line.sums + first,
                         v = place.part;
    for (size_t i = 0; i < n; ++i) to[i] = by.rounded(low[i] * Sum::kOne + (high[i] - low[i]) * v);
  }
};

// Floats, whose order of operations counts: an input line's values on both sides of output pixels.
template <typename Sum>
struct SpreadLine {
  static constexpr size_t kMost = kSums;
  float left[kSums + kOverrun], right[kSums + kOverrun];

  OCTET_LOOP void read(const Sum& sum, const uint8_t* line, size_t pixel_bytes, const Columns& c) {
    const Sum by = sum;
    float* __restrict to_left = left, * __restrict to_right = right;
    for (size_t x = 0; x < c.count; ++x, to_left += c.channels, to_right += c.channels) {
      const uint8_t *const a = line + c.pixels[x].low * pixel_bytes, *const b =
                                                                         line + c.pixels[x].high *
                                                                                    pixel_bytes;
      for (size_t i = 0, n = c.read_at(c.pixels[x].high); i < n; ++i)
        to_left[i] = by.value(a[i]), to_right[i] = by.value(b[i]);
    }
  }
  struct Weights {
    float low[kSums + kOverrun], high[kSums + kOverrun];
    explicit Weights(const Columns& c) {
      for (size_t x = 0, at = 0; x < c.count; ++x, at += c.channels)
        for (size_t i = 0; i < c.channels; ++i)
          low[at + i] = c.pixels[x].weights[0], high[at + i] = c.pixels[x].weights[1];
    }
  };
  OCTET_LOOP static void blend(const Sum& sum, const SpreadLine& low, const SpreadLine& high,
                               const Weights& weights, const ResizePlace& place, size_t first,
                               uint8_t* __restrict to, size_t n) {
    const Sum by = sum;
    const float *const a = low.left + first, *const b = low.right + first,
                       *const c = high.left + first, *const d = high.right + first,
                       *const h0 = weights.low + first, *const h1 = weights.high + first,
                       v0 = place.weights[0], v1 = place.weights[1];
    for (size_t i = 0; i < n; ++i) to[i] = by.blended(a[i], b[i], c[i], d[i], v0, v1, h0[i], h1[i]);
  }
};

struct TfliteFloats {
  float value(uint8_t byte) const { return (float)byte; }
  uint8_t blended(float a, float b, float c, float d, float v0, float v1, float h0,
                  float h1) const {
    const float sum = a * v0 * h0 + c * v1 * h0 + b * v0 * h1 + d * v1 * h1;
    return (uint8_t)(int32_t)(sum + 0.5f);
  }
};

// The weighted sum of ONNX, whose products are added in this order.
inline float onnx_sum(float a, float b, float c, float d, float v0, float v1, float h0, float h1) {
  return h0 * v0 * a + h1 * v0 * b + h0 * v1 * c + h1 * v1 * d;
}

struct OnnxFloats {
  const Bytes bytes;
  float value(uint8_t byte) const { return (float)bytes(byte); }
  uint8_t blended(float a, float b, float c, float d, float v0, float v1, float h0,
                  float h1) const {
    return (uint8_t)(int32_t)onnx_sum(a, b, c, d, v0, v1, h0, h1);
  }
};

struct StandardFloats {
  uint8_t flip;
  int32_t zero, out_zero;
  float scale, out_scale, least, most;
  explicit StandardFloats(const Resize& f)
      : flip(Bytes(f.is_signed).flip),
        zero(f.zero_point + Bytes(f.is_signed).zero),
        out_zero(f.out_zero_point),
        scale(f.scale),
        out_scale(f.out_scale),
        least((float)(Bytes(f.is_signed).least - out_zero)),
        most((float)(Bytes(f.is_signed).most - out_zero)) {}
  float value(uint8_t byte) const { return (float)((byte ^ flip) - zero) * scale; }
  uint8_t blended(float a, float b, float c, float d, float v0, float v1, float h0,
                  float h1) const {
    const float sum = onnx_sum(a, b, c, d, v0, v1, h0, h1);
    return (uint8_t)(round_within(sum / out_scale, least, most) + out_zero);
  }
};

// Channels [first, first + channels) of output pixels [x, x + count), at most Line::kMost together.
template <typename Line, typename Sum>
inline void blend_columns(const Sum& sum, const Resize& f, const ImageCall& call, size_t x,
                          size_t count, size_t first, size_t channels) {
  const ImageLines &in = call.input, &out = call.output;
  Columns columns = {f.pixels + x, count, channels, 0};
  // Between pixels that are not dense lie bytes that another thread may write
  const size_t pixels = (columns.wide() + channels - 1) / channels;
  if (in.pixel == channels && pixels <= in.w) columns.wide_end = in.w - pixels + 1;
  const typename Line::Weights weights(columns);
  Line lines[2];
  size_t held[2] = {in.h, in.h};  // their numbers in the image; at first none
  const auto hold = [&](int which, size_t line) {
    if (held[which] == line) return;
    held[which] = line;
    lines[which].read(sum, line_of(in, line) + first, in.pixel, columns);
  };
  int low = 0;
  for (size_t y = call.first; y < call.end; ++y) {
    const ResizePlace& place = f.lines[y];
    if (held[!low] == place.low) low = !low;
    hold(low, place.low);
    const int high = place.high == place.low ? low : !low;
    hold(high, place.high);
    uint8_t* const to = line_of(out, y) + x * out.pixel + first;
    const bool dense = out.pixel == channels;
    const size_t step = dense ? count : 1;
    for (size_t i = 0; i < count; i += step)
      Line::blend(sum, lines[low], lines[high], weights, place, i * channels, to + i * out.pixel,
                  step * channels);
  }
}

template <template <typename> typename Line, typename Sum>
inline void resize_bytes(const Sum& sum, const Resize& f, const ImageCall& call) {
  for_each_chunk(call.output.channels, [&](size_t first, size_t channels) {
    const size_t most = Line<Sum>::kMost / channels;
    for (size_t x = 0, count; x < call.output.w; x += count) {
      count = call.output.w - x < most ? call.output.w - x : most;
      blend_columns<Line<Sum>>(sum, f, call, x, count, first, channels);
    }
  });
}

// A TfliteSum of s16 values. The two bytes of an s16 value are weighed by themselves, since an s16
// value's sum leaves 32 bits; halves are rounded away from 0, so that a negative sum's half is one
// less.
OCTET_LOOP void blend_s16_between(const Corners& p, int32_t v, const ResizePlace* pixels,
                                  size_t count, uint8_t* to, size_t to_pixel, size_t n) {
  constexpr int32_t kOne = TfliteSum::kOne, kHalf = kOne * kOne / 2;
  const auto *const a = (const int16_t*)p.a, *const b = (const int16_t*)p.b,
                    *const c = (const int16_t*)p.c, *const d = (const int16_t*)p.d;
  int32_t upper[kChunk], upper_slope[kChunk], lower[kChunk], lower_slope[kChunk];
  for (size_t i = 0; i < n; ++i) {
    const int32_t left = (a[i] >> 8) * (kOne - v) + (c[i] >> 8) * v,
                  right = (b[i] >> 8) * (kOne - v) + (d[i] >> 8) * v,
                  lower_left = (a[i] & 255) * (kOne - v) + (c[i] & 255) * v,
                  lower_right = (b[i] & 255) * (kOne - v) + (d[i] & 255) * v;
    upper[i] = left * kOne, upper_slope[i] = right - left;
    lower[i] = lower_left * kOne, lower_slope[i] = lower_right - lower_left;
  }
  for (size_t x = 0; x < count; ++x, to += to_pixel) {
    const int32_t h = pixels[x].part;
    int16_t* __restrict const word = (int16_t*)to;
    for (size_t i = 0; i < n; ++i) {
      const int32_t high = upper[i] + upper_slope[i] * h, low = lower[i] + lower_slope[i] * h,
                    sign = (high + (low >> 8)) >> 31;
      word[i] = (int16_t)((high + ((low + kHalf + sign) >> 8)) >> 12);
    }
  }
}

// s16 values: outputs that lie between the same four inputs share the vertical half of the work.
inline void resize_s16(const Resize& f, const ImageCall& call) {
  const ImageLines &in = call.input, &out = call.output;
  for (size_t y = call.first; y < call.end; ++y) {
    const ResizePlace& line = f.lines[y];
    const uint8_t *const low = line_of(in, line.low), *const high = line_of(in, line.high);
    uint8_t* const to = line_of(out, y);
    for (size_t x = 0, count; x < out.w; x += count) {
      const ResizePlace* const pixel = f.pixels + x;
      for (count = 1;
           x + count < out.w && pixel[count].low == pixel->low && pixel[count].high == pixel->high;)
        ++count;
      for_each_chunk(out.channels, [&](size_t first, size_t channels) {
        const size_t at = first * f.element, left = pixel->low * in.pixel + at,
                     right = pixel->high * in.pixel + at;
        blend_s16_between({low + left, low + right, high + left, high + right}, line.part, pixel,
                          count, to + x * out.pixel + at, out.pixel, channels);
      });
    }
  }
}

inline void resize(const Resize& f, const ImageCall& call) {
  const Bytes bytes(f.is_signed);
  switch (f.kind) {
    case ResizeKind::kNearest: return resize_nearest(f, call);
    case ResizeKind::kTflite: return resize_bytes<SummedLine>(TfliteSum{bytes}, f, call);
    case ResizeKind::kTfliteS16: return resize_s16(f, call);
    case ResizeKind::kTfliteFloat: return resize_bytes<SpreadLine>(TfliteFloats(), f, call);
    case ResizeKind::kXnnpack: return resize_bytes<SummedLine>(XnnpackSum{{bytes.flip}}, f, call);
    case ResizeKind::kOnnx: return resize_bytes<SpreadLine>(OnnxFloats{bytes}, f, call);
    case ResizeKind::kStandard: return resize_bytes<SpreadLine>(StandardFloats(f), f, call);
  }
}

}  // namespace
}  // namespace octet
