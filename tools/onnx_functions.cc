#include "onnx_functions.h"

#include <algorithm>
#include <cmath>

namespace tool {
namespace {

int32_t read(const uint8_t* at, octet_type type) {
  return type == OCTET_S8 ? static_cast<int8_t>(*at) : *at;
}

uint8_t* pixel(const octet_network_image& image, size_t y, size_t x) {
  return static_cast<uint8_t*>(octet_network_line(&image, y)) + x * image.pixel;
}

// Half to even; what leaves 8 bits by far stays within int32.
int32_t quantize(float x, float scale, int32_t zero_point) {
  constexpr float kFar = 1 << 20;
  return static_cast<int32_t>(std::nearbyint(std::clamp(x / scale, -kFar, kFar))) + zero_point;
}

float dequantize(int32_t x, const DescribedFunction& f, size_t input) {
  return static_cast<float>(x - f.zero_points[input]) * f.scales[input];
}

uint8_t leave(const DescribedFunction& f, float x) {
  return static_cast<uint8_t>(
      std::clamp(quantize(x, f.scales[2], f.zero_points[2]), f.least, f.most));
}

void add_lines(void* context, const octet_network_call* call) {
  const DescribedFunction& f = *static_cast<const DescribedFunction*>(context);
  const octet_network_image& out = call->output;
  for (size_t y = call->first; y < call->end; ++y)
    for (size_t x = 0; x < out.w; ++x) {
      const uint8_t* const a = pixel(call->inputs[0], y, x);
      const uint8_t* const b = pixel(call->inputs[1], y, x);
      uint8_t* const to = pixel(out, y, x);
      for (size_t c = 0; c < out.channels; ++c)
        to[c] =
            leave(f, dequantize(read(a + c, f.type), f, 0) + dequantize(read(b + c, f.type), f, 1));
    }
}

// Of the pixels of a window that are there.
float average(const DescribedFunction& f, const octet_network_image& in, size_t y, size_t x,
              size_t channel) {
  int64_t sum = 0, count = 0;
  for (size_t ky = 0; ky < f.kernel_h; ++ky)
    for (size_t kx = 0; kx < f.kernel_w; ++kx) {
      // Those above and left of the image wrap around
      const size_t iy = y * f.stride_h + ky - f.pad_top, ix = x * f.stride_w + kx - f.pad_left;
      if (iy >= in.h || ix >= in.w) continue;
      sum += read(pixel(in, iy, ix) + channel, f.type) - f.zero_points[0], ++count;
    }
  return static_cast<float>(sum) * f.scales[0] / static_cast<float>(count);
}

void average_lines(void* context, const octet_network_call* call) {
  const DescribedFunction& f = *static_cast<const DescribedFunction*>(context);
  const octet_network_image& out = call->output;
  for (size_t y = call->first; y < call->end; ++y)
    for (size_t x = 0; x < out.w; ++x)
      for (size_t c = 0; c < out.channels; ++c)
        pixel(out, y, x)[c] = leave(f, average(f, call->inputs[0], y, x, c));
}

}  // namespace

Bounds bounds_of_type(octet_type type) {
  return type == OCTET_S8 ? Bounds{-128, 127} : Bounds{0, 255};
}

Bounds quantize_bounds(octet_type type, float scale, int32_t zero_point, std::optional<float> least,
                       std::optional<float> most) {
  const Bounds all = bounds_of_type(type);
  const auto bound = [&](const std::optional<float>& x, int32_t none) {
    return x ? std::clamp(quantize(*x, scale, zero_point), all.least, all.most) : none;
  };
  return {bound(least, all.least), bound(most, all.most)};
}

void make_float_addition(DescribedFunction* f) {
  f->lines = {};
  f->lines.run = add_lines, f->lines.context = f;
  f->lines.kernel_h = 1;
}

void make_float_average(DescribedFunction* f) {
  f->lines = {};
  f->lines.run = average_lines, f->lines.context = f;
  f->lines.kernel_h = f->kernel_h, f->lines.stride_h = f->stride_h, f->lines.pad_top = f->pad_top;
}

}  // namespace tool
