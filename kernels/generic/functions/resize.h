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

constexpr size_t kSums = 1024;  // of a line: two of them and their output stay in the first cache
constexpr size_t kOverrun = 16;

// Sums of `count` output pixels along an input line, `channels` of each. Of input pixels below
// `wide_end` as many channels as fill vectors are taken: sums behind a pixel's are computed later.
template <typename Sum>
OCTET_LOOP void blend_pixels(const Sum& sum, const uint8_t* line, size_t pixel_bytes,
                             const ResizePlace* pixels, size_t count, size_t channels,
                             size_t wide_end, int32_t* __restrict to) {
  const Sum by = sum;
  for (size_t x = 0; x < count; ++x, to += channels) {
    const size_t high = pixels[x].high;
    const uint8_t *const a = line + pixels[x].low * pixel_bytes, *const b =
                                                                     line + high * pixel_bytes;
    const int32_t h = pixels[x].part;
    const size_t n = high < wide_end ? (channels + kOverrun - 1) / kOverrun * kOverrun : channels;
    for (size_t i = 0; i < n; ++i) to[i] = by.value(a[i]) * (Sum::kOne - h) + by.value(b[i]) * h;
  }
}

// Outputs between two lines of such sums.
template <typename Sum>
OCTET_LOOP void blend_lines(const Sum& sum, const int32_t* low, const int32_t* high, int32_t v,
                            uint8_t* __restrict to, size_t n) {
  const Sum by = sum;
  for (size_t i = 0; i < n; ++i) to[i] = by.rounded(low[i] * Sum::kOne + (high[i] - low[i]) * v);
}

// Channels [first, first + channels) of output pixels [x, x + count), at most kSums together: sums
// are exact, so the horizontal half of the work is done once for all lines that lie between the
// same two, along which vectors are full.
template <typename Sum>
inline void blend_columns(const Sum& sum, const Resize& f, const ImageCall& call, size_t x,
                          size_t count, size_t first, size_t channels) {
  const ImageLines &in = call.input, &out = call.output;
  int32_t sums[2][kSums + kOverrun];
  size_t held[2] = {in.h, in.h};  // the input lines of sums; at first none
  const bool dense = in.pixel == channels && in.channels == channels;
  const size_t beyond = (channels + kOverrun - 1) / kOverrun * kOverrun;
  const size_t taken = (beyond + channels - 1) / channels;
  const size_t wide_end = dense && taken <= in.w ? in.w - taken + 1 : 0;
  const auto hold = [&](int which, size_t line) {
    if (held[which] == line) return;
    held[which] = line;
    blend_pixels(sum, line_of(in, line) + first, in.pixel, f.pixels + x, count, channels, wide_end,
                 sums[which]);
  };
  int low = 0;
  for (size_t y = call.first; y < call.end; ++y) {
    const ResizePlace& line = f.lines[y];
    if (held[!low] == line.low) low = !low;
    hold(low, line.low);
    const int high = line.high == line.low ? low : !low;
    hold(high, line.high);
    uint8_t* const to = line_of(out, y) + x * out.pixel + first;
    if (out.pixel == channels) {
      blend_lines(sum, sums[low], sums[high], line.part, to, count * channels);
      continue;
    }
    for (size_t i = 0; i < count; ++i)
      blend_lines(sum, sums[low] + i * channels, sums[high] + i * channels, line.part,
                  to + i * out.pixel, channels);
  }
}

template <typename Sum>
inline void blend_bytes(const Sum& sum, const Resize& f, const ImageCall& call) {
  for_each_chunk(call.output.channels, [&](size_t first, size_t channels) {
    const size_t most = kSums / channels;
    for (size_t x = 0, count; x < call.output.w; x += count) {
      count = call.output.w - x < most ? call.output.w - x : most;
      blend_columns(sum, f, call, x, count, first, channels);
    }
  });
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

// Words: outputs that lie between the same four inputs share the vertical half of the work.
inline void resize_words(const Resize& f, const ImageCall& call) {
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
        blend_words_between({low + left, low + right, high + left, high + right}, line.part, pixel,
                            count, to + x * out.pixel + at, out.pixel, channels);
      });
    }
  }
}

inline void resize_floats(const Resize& f, const ImageCall& call) {
  const ImageLines &in = call.input, &out = call.output;
  for (size_t y = call.first; y < call.end; ++y) {
    const ResizePlace& line = f.lines[y];
    const uint8_t *const low = line_of(in, line.low), *const high = line_of(in, line.high);
    uint8_t* const to = line_of(out, y);
    for (size_t x = 0; x < out.w; ++x) {
      const ResizePlace& pixel = f.pixels[x];
      const size_t left = pixel.low * in.pixel, right = pixel.high * in.pixel;
      blend(f, {low + left, low + right, high + left, high + right}, line, pixel,
            to + x * out.pixel, run_length(call, x, (size_t)pixel.high + 1));
    }
  }
}

inline void resize(const Resize& f, const ImageCall& call) {
  const Bytes bytes(f.is_signed);
  switch (f.kind) {
    case ResizeKind::kNearest: return resize_nearest(f, call);
    case ResizeKind::kTflite: return blend_bytes(TfliteSum{bytes}, f, call);
    case ResizeKind::kXnnpack: return blend_bytes(XnnpackSum{{bytes.flip}}, f, call);
    case ResizeKind::kTfliteWords: return resize_words(f, call);
    default: return resize_floats(f, call);
  }
}

}  // namespace
}  // namespace octet
