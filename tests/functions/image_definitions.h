// SPDX-License-Identifier: Apache-2.0
// Defines functions of images value by value, in plain loops that share nothing with the library.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <vector>

#include "octet/image_functions.h"

namespace octet_test {

// A dense image of bytes or words, read as numbers of a type.
struct Image {
  octet_image_size size;
  bool is_signed;
  size_t element;
  std::vector<uint8_t> bytes;

  Image(const octet_image_size& s, bool sign, size_t element_bytes = 1)
      : size(s),
        is_signed(sign),
        element(element_bytes),
        bytes(s.h * s.w * s.channels * element_bytes) {}
  size_t index(size_t y, size_t x, size_t c) const { return (y * size.w + x) * size.channels + c; }
  int64_t at(size_t y, size_t x, size_t c) const {
    const uint8_t* const at = &bytes[index(y, x, c) * element];
    if (element == 2) return (int16_t)(at[0] | at[1] << 8);
    return is_signed ? (int8_t)*at : *at;
  }
  int64_t least() const { return element == 2 ? -32768 : is_signed ? -128 : 0; }
  int64_t most() const { return least() + (element == 2 ? 65535 : 255); }
  octet_type type() const { return element == 2 ? OCTET_S16 : is_signed ? OCTET_S8 : OCTET_U8; }
  void set(size_t y, size_t x, size_t c, int64_t value) {
    const int64_t clamped = std::clamp(value, least(), most());
    for (size_t i = 0; i < element; ++i)
      bytes[index(y, x, c) * element + i] = (uint8_t)(clamped >> 8 * i);
  }
};

template <typename Value>
void for_each(Image* image, const Value& value) {
  for (size_t y = 0; y < image->size.h; ++y)
    for (size_t x = 0; x < image->size.w; ++x)
      for (size_t c = 0; c < image->size.channels; ++c) image->set(y, x, c, value(y, x, c));
}

// The values of a window, in the order of lines and pixels.
inline std::vector<int64_t> window_at(const Image& in, const octet_window& w, size_t y, size_t x,
                                      size_t c) {
  std::vector<int64_t> values;
  for (size_t ky = 0; ky < w.kernel_h; ++ky)
    for (size_t kx = 0; kx < w.kernel_w; ++kx) {
      const int64_t iy = (int64_t)(y * w.stride_h + ky) - (int64_t)w.pad_top;
      const int64_t ix = (int64_t)(x * w.stride_w + kx) - (int64_t)w.pad_left;
      if (iy >= 0 && iy < (int64_t)in.size.h && ix >= 0 && ix < (int64_t)in.size.w)
        values.push_back(in.at((size_t)iy, (size_t)ix, c));
    }
  return values;
}

// Halves away from 0.
inline int64_t divide_away(int64_t sum, int64_t count) {
  return sum > 0 ? (sum + count / 2) / count : -((-sum + count / 2) / count);
}

inline float average_of(const std::vector<int64_t>& values, size_t count, const octet_quantized& in,
                        float out_scale) {
  float sum = 0;
  for (const int64_t v : values) {
    const float real = (float)(v - in.zero_point) * in.scale;
    sum = sum + real;
  }
  const float mean = sum / (float)count;
  return mean / out_scale;
}

// The softmax of channel c of a pixel in steps of the output, before the zero point.
inline int64_t softmax_steps(const std::vector<int64_t>& pixel, size_t c,
                             const octet_softmax_desc& desc) {
  const bool qlinear = desc.arithmetic == OCTET_ARITHMETIC_ONNXRUNTIME;
  const float scale = desc.input.values.scale, out_scale = desc.output.scale;
  const float most = std::log(FLT_MAX / (float)pixel.size());
  const double shift = ((double)most - 5) / (double)scale;
  const int64_t largest = *std::max_element(pixel.begin(), pixel.end());
  float sum = 0, own = 0;
  for (size_t i = 0; i < pixel.size(); ++i) {
    const float below = (float)(largest - pixel[i]);
    const double exponent =
        qlinear ? (shift - (double)below) * (double)scale : (double)(-scale * below);
    const float e = (float)std::exp(exponent);
    sum += e;
    if (i == c) own = e;
  }
  const double steps = qlinear ? (double)own * (double)std::floor(1 / out_scale) / (double)sum
                               : (double)(own / sum / out_scale);
  return (int64_t)std::nearbyint(std::min(steps, 1000.0));
}

// TFLite's bilinear resize of s8: the position of output i in 1/1024 of the input.
inline int64_t tflite_position(size_t i, size_t in, size_t out, octet_coordinates coordinates) {
  const int64_t n = (int64_t)in, m = (int64_t)out;
  int64_t step = (1024 * n + m / 2) / m;
  if (coordinates == OCTET_COORDINATES_ALIGN_CORNERS && m > 1)
    step = (1024 * (n - 1) + (m - 1) / 2) / (m - 1);
  return (int64_t)i * step + (coordinates == OCTET_COORDINATES_HALF_PIXEL ? step / 2 - 512 : 0);
}
struct Neighbours {
  size_t low, high;
  int64_t part;
};
inline Neighbours tflite_neighbours(int64_t position, size_t in) {
  const int64_t last = (int64_t)in - 1;
  // TFLite itself reads behind the image where a step rounded up leaves it
  const int64_t low = std::min(std::max<int64_t>(position / 1024, 0), last),
                high = std::min<int64_t>((position + 1023) / 1024, last);
  return {(size_t)low, (size_t)high, position - 1024 * low};
}
// Of int8 or int16, to the sizes of `out`.
inline void resize_as_tflite(const Image& in, octet_coordinates coordinates, Image* out) {
  for_each(out, [&](size_t y, size_t x, size_t c) {
    const auto v =
        tflite_neighbours(tflite_position(y, in.size.h, out->size.h, coordinates), in.size.h);
    const auto h =
        tflite_neighbours(tflite_position(x, in.size.w, out->size.w, coordinates), in.size.w);
    const int64_t sum = in.at(v.low, h.low, c) * (1024 - v.part) * (1024 - h.part) +
                        in.at(v.high, h.low, c) * v.part * (1024 - h.part) +
                        in.at(v.low, h.high, c) * (1024 - v.part) * h.part +
                        in.at(v.high, h.high, c) * v.part * h.part;
    return divide_away(sum, 1 << 20);
  });
}

// The scale of TFLite's floats and of XNNPACK, and the position of output i.
inline float resize_scale(size_t in, size_t out, octet_coordinates coordinates) {
  if (coordinates == OCTET_COORDINATES_ALIGN_CORNERS && out > 1)
    return (float)(in - 1) / (float)(out - 1);
  return (float)in / (float)out;
}
// TFLite's bilinear resize of u8: every operation rounds to float.
inline void resize_as_tflite_in_floats(const Image& in, octet_coordinates coordinates, Image* out) {
  struct Floats {
    size_t low, high;
    float low_weight, high_weight;
  };
  const auto neighbours = [&](size_t i, size_t from, size_t to) -> Floats {
    float at = (float)i * resize_scale(from, to, coordinates);
    if (coordinates == OCTET_COORDINATES_HALF_PIXEL) {
      const float middle = ((float)i + 0.5f) * resize_scale(from, to, coordinates);
      at = middle - 0.5f;
    }
    const float last = (float)(from - 1), low = std::clamp(std::floor(at), 0.0f, last);
    const float part = at - low;
    return {(size_t)low, (size_t)std::clamp(std::ceil(at), 0.0f, last), 1 - part, part};
  };
  const auto product = [](int64_t value, float v, float h) {
    const float vertical = (float)value * v;
    return vertical * h;
  };
  for_each(out, [&](size_t y, size_t x, size_t c) {
    const Floats v = neighbours(y, in.size.h, out->size.h),
                 h = neighbours(x, in.size.w, out->size.w);
    float sum = product(in.at(v.low, h.low, c), v.low_weight, h.low_weight);
    sum = sum + product(in.at(v.high, h.low, c), v.high_weight, h.low_weight);
    sum = sum + product(in.at(v.low, h.high, c), v.low_weight, h.high_weight);
    sum = sum + product(in.at(v.high, h.high, c), v.high_weight, h.high_weight);
    return (int64_t)(sum + 0.5f);
  });
}
// XNNPACK's: positions within the image, weights in 1/2048, halves up.
inline void resize_as_xnnpack(const Image& in, octet_coordinates coordinates, Image* out) {
  const auto neighbours = [&](size_t i, size_t from, size_t to) -> Neighbours {
    const float scale = resize_scale(from, to, coordinates), first = 0.5f * scale - 0.5f;
    float at = (float)i * scale;
    if (coordinates == OCTET_COORDINATES_HALF_PIXEL) at = at + first;
    at = std::clamp(at, 0.0f, (float)(from - 1));
    const float low = std::floor(at);
    return {(size_t)low, std::min((size_t)low + 1, from - 1),
            (int64_t)std::nearbyint((double)(at - low) * 2048)};
  };
  for_each(out, [&](size_t y, size_t x, size_t c) {
    const Neighbours v = neighbours(y, in.size.h, out->size.h),
                     h = neighbours(x, in.size.w, out->size.w);
    const int64_t low = in.at(v.low, h.low, c) * (2048 - h.part) + in.at(v.low, h.high, c) * h.part,
                  high =
                      in.at(v.high, h.low, c) * (2048 - h.part) + in.at(v.high, h.high, c) * h.part;
    return (low * (2048 - v.part) + high * v.part + (1 << 21)) >> 22;
  });
}

}  // namespace octet_test
