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

// Outputs `pixels`, which lie between the same four inputs: their sums are exact, so the vertical
// half of the work is done once for all. n: channels, at most kChunk.
template <typename Sum>
OCTET_LOOP void blend_between(const Sum& sum, const Corners& p, int32_t v,
                              const ResizePlace* pixels, size_t count, uint8_t* __restrict to,
                              size_t to_pixel, size_t n) {
  const uint8_t *const a = p.a, *const b = p.b, *const c = p.c, *const d = p.d;
  const Sum by = sum;
  int32_t left[kChunk], slope[kChunk];
  for (size_t i = 0; i < n; ++i) {
    const int32_t low = by.value(a[i]) * (Sum::kOne - v) + by.value(c[i]) * v,
                  high = by.value(b[i]) * (Sum::kOne - v) + by.value(d[i]) * v;
    left[i] = low * Sum::kOne;
    slope[i] = high - low;
  }
  for (size_t x = 0; x < count; ++x, to += to_pixel) {
    const int32_t h = pixels[x].part;
    for (size_t i = 0; i < n; ++i) to[i] = by.rounded(left[i] + slope[i] * h);
  }
}

// A TfliteSum of words. The two bytes of a word are weighed by themselves, since a word's sum
// leaves 32 bits; halves are rounded away from 0, so that a negative sum's half is one less.
OCTET_LOOP void blend_words_between(const Corners& p, int32_t v, const ResizePlace* pixels,
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

OCTET_LOOP void blend_tflite_float(const Corners& p, const float* v, const float* h,
                                   uint8_t* __restrict to, size_t n) {
  const uint8_t *const a = p.a, *const b = p.b, *const c = p.c, *const d = p.d;
  const float v0 = v[0], v1 = v[1], h0 = h[0], h1 = h[1];
  for (size_t i = 0; i < n; ++i) {
    const float sum = (float)a[i] * v0 * h0 + (float)c[i] * v1 * h0 + (float)b[i] * v0 * h1 +
                      (float)d[i] * v1 * h1;
    to[i] = (uint8_t)(int32_t)(sum + 0.5f);
  }
}

// The weights of the corners, in the order in which their products are added.
struct CornerWeights {
  float a, b, c, d;
  CornerWeights(const float* v, const float* h)
      : a(h[0] * v[0]), b(h[1] * v[0]), c(h[0] * v[1]), d(h[1] * v[1]) {}
};

OCTET_LOOP void blend_onnx(const Bytes& bytes, const Corners& p, const CornerWeights& weights,
                           uint8_t* __restrict to, size_t n) {
  const uint8_t *const a = p.a, *const b = p.b, *const c = p.c, *const d = p.d;
  const Bytes value = bytes;
  const CornerWeights w = weights;
  for (size_t i = 0; i < n; ++i)
    to[i] = (uint8_t)(int32_t)(w.a * (float)value(a[i]) + w.b * (float)value(b[i]) +
                               w.c * (float)value(c[i]) + w.d * (float)value(d[i]));
}

OCTET_LOOP void blend_standard(const Resize& f, const Corners& p, const CornerWeights& weights,
                               uint8_t* __restrict to, size_t n) {
  const uint8_t *const a = p.a, *const b = p.b, *const c = p.c, *const d = p.d;
  const Bytes bytes(f.is_signed);
  const CornerWeights w = weights;
  const int32_t zero = f.zero_point + bytes.zero, out_zero = f.out_zero_point;
  const float scale = f.scale, out_scale = f.out_scale;
  const float least = (float)(bytes.least - out_zero), most = (float)(bytes.most - out_zero);
  const uint8_t flip = bytes.flip;
  const auto real = [=](uint8_t byte) { return (float)((byte ^ flip) - zero) * scale; };
  for (size_t i = 0; i < n; ++i) {
    const float sum = w.a * real(a[i]) + w.b * real(b[i]) + w.c * real(c[i]) + w.d * real(d[i]);
    to[i] = (uint8_t)(round_within(sum / out_scale, least, most) + out_zero);
  }
}

// One output in the arithmetic of a kind in floats.
inline void blend(const Resize& f, const Corners& p, const ResizePlace& line,
                  const ResizePlace& pixel, uint8_t* to, size_t n) {
  switch (f.kind) {
    case ResizeKind::kTfliteFloat: return blend_tflite_float(p, line.weights, pixel.weights, to, n);
    case ResizeKind::kOnnx:
      return blend_onnx(Bytes(f.is_signed), p, {line.weights, pixel.weights}, to, n);
    default: return blend_standard(f, p, {line.weights, pixel.weights}, to, n);
  }
}

// Outputs from `to` on between the same four inputs, in the arithmetic of a kind in integers. n:
// channels; run_length adds an overrun to fewer than kChunk only, which are one chunk: an overrun
// into the next pixel comes before that pixel is written.
inline void blend(const Resize& f, const Corners& p, const ResizePlace& line,
                  const ResizePlace* pixels, size_t count, uint8_t* to, size_t to_pixel, size_t n) {
  const Bytes bytes(f.is_signed);
  for_each_chunk(n, [&](size_t first, size_t channels) {
    const size_t at = first * f.element;
    const Corners here = {p.a + at, p.b + at, p.c + at, p.d + at};
    if (f.kind == ResizeKind::kTfliteWords)
      blend_words_between(here, line.part, pixels, count, to + at, to_pixel, channels);
    else if (f.kind == ResizeKind::kTflite)
      blend_between(TfliteSum{bytes}, here, line.part, pixels, count, to + at, to_pixel, channels);
    else
      blend_between(XnnpackSum{{bytes.flip}}, here, line.part, pixels, count, to + at, to_pixel,
                    channels);
  });
}

inline void resize_linear(const Resize& f, const ImageCall& call) {
  const ImageLines &in = call.input, &out = call.output;
  const bool exact = f.kind == ResizeKind::kTflite || f.kind == ResizeKind::kTfliteWords ||
                     f.kind == ResizeKind::kXnnpack;
  for (size_t y = call.first; y < call.end; ++y) {
    const ResizePlace& line = f.lines[y];
    const uint8_t *const low = line_of(in, line.low), *const high = line_of(in, line.high);
    uint8_t* const to = line_of(out, y);
    for (size_t x = 0, count; x < out.w; x += count) {
      const ResizePlace* const pixel = f.pixels + x;
      const size_t left = pixel->low * in.pixel, right = pixel->high * in.pixel;
      const Corners corners = {low + left, low + right, high + left, high + right};
      for (count = 1; exact && x + count < out.w && pixel[count].low == pixel->low &&
                      pixel[count].high == pixel->high;)
        ++count;
      const size_t n = run_length(call, x + count - 1, (size_t)pixel->high + 1);
      if (exact)
        blend(f, corners, line, pixel, count, to + x * out.pixel, out.pixel, n);
      else
        blend(f, corners, line, *pixel, to + x * out.pixel, n);
    }
  }
}

inline void resize(const Resize& f, const ImageCall& call) {
  if (f.kind == ResizeKind::kNearest)
    resize_nearest(f, call);
  else
    resize_linear(f, call);
}

}  // namespace
}  // namespace octet
