#include "tflite_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tool {
namespace {

int32_t read(const uint8_t* at, octet_type type) {
  return type == OCTET_S8 ? static_cast<int8_t>(*at) : *at;
}

uint8_t* line(const octet_network_image& image, size_t y) {
  return static_cast<uint8_t*>(octet_network_line(&image, y));
}

// SaturatingRoundingDoublingHighMul, then RoundingDivideByPOT by -shift; shift <= 0.
int32_t rescale(int32_t x, int32_t multiplier, int32_t shift) {
  const int64_t product = int64_t{x} * multiplier, nudge = product >= 0 ? 1 << 30 : 1 - (1 << 30);
  const int32_t high = static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
  if (shift == 0) return high;
  const int32_t mask = static_cast<int32_t>((int64_t{1} << -shift) - 1);
  const int32_t threshold = (mask >> 1) + (high < 0 ? 1 : 0);
  return (high >> -shift) + ((high & mask) > threshold ? 1 : 0);
}

void add_lines(void* context, const octet_network_call* call) {
  const DescribedFunction& f = *static_cast<const DescribedFunction*>(context);
  const octet_network_image &a = call->inputs[0], &b = call->inputs[1], &out = call->output;
  const octet_residual& r = f.add;
  for (size_t y = call->first; y < call->end; ++y)
    for (size_t x = 0; x < out.w; ++x) {
      const uint8_t* const first = line(a, y) + x * a.pixel;
      const uint8_t* const second = line(b, y) + x * b.pixel;
      uint8_t* const to = line(out, y) + x * out.pixel;
      for (size_t c = 0; c < out.channels; ++c) {
        const int32_t shifted = (read(first + c, f.type) - f.zero_points[0]) * (1 << 20),
                      other = (read(second + c, f.type) - f.zero_points[1]) * (1 << 20),
                      sum = rescale(shifted, r.product_multiplier, r.product_shift) +
                            rescale(other, r.residual_multiplier, r.residual_shift),
                      value = rescale(sum, r.dst_multiplier, r.dst_shift) + f.zero_points[2];
        to[c] = static_cast<uint8_t>(std::clamp(value, f.least, f.most));
      }
    }
}

// Of the pixels of a window that are there; an average is rounded half away from zero.
int32_t pooled(const DescribedFunction& f, const octet_network_image& in, size_t y, size_t x,
               size_t channel) {
  int64_t sum = 0, count = 0;
  int32_t most = std::numeric_limits<int32_t>::min();
  for (size_t ky = 0; ky < f.kernel_h; ++ky)
    for (size_t kx = 0; kx < f.kernel_w; ++kx) {
      // Those above and left of the image wrap around
      const size_t iy = y * f.stride_h + ky - f.pad_top, ix = x * f.stride_w + kx - f.pad_left;
      if (iy >= in.h || ix >= in.w) continue;
      const int32_t value = read(line(in, iy) + ix * in.pixel + channel, f.type);
      sum += value, ++count, most = std::max(most, value);
    }
  if (!f.average) return most;
  return static_cast<int32_t>((sum > 0 ? sum + count / 2 : sum - count / 2) / count);
}

void pool_lines(void* context, const octet_network_call* call) {
  const DescribedFunction& f = *static_cast<const DescribedFunction*>(context);
  const octet_network_image& out = call->output;
  for (size_t y = call->first; y < call->end; ++y)
    for (size_t x = 0; x < out.w; ++x)
      for (size_t c = 0; c < out.channels; ++c)
        line(out, y)[x * out.pixel + c] =
            static_cast<uint8_t>(std::clamp(pooled(f, call->inputs[0], y, x, c), f.least, f.most));
}

}  // namespace

void set_activation(DescribedFunction* f, const std::string& activation, float scale,
                    int32_t zero_point) {
  f->least = f->type == OCTET_S8 ? -128 : 0;
  f->most = f->least + 255;
  // What leaves 8 bits by far stays within int32
  const auto quantized = [&](float x) {
    constexpr float kFar = 1 << 20;
    return zero_point + static_cast<int32_t>(std::clamp(std::round(x / scale), -kFar, kFar));
  };
  const auto within = [&](float low, float high) {
    f->least = std::max(f->least, quantized(low));
    f->most = std::min(f->most, quantized(high));
  };
  if (activation == "RELU")
    f->least = std::max(f->least, zero_point);
  else if (activation == "RELU6")
    within(0, 6);
  else if (activation == "RELU_N1_TO_1")
    within(-1, 1);
  else if (activation != "NONE")
    throw Error(fmt::format("its activation {} is not Octet's", activation));
}

void make_addition(DescribedFunction* f) {
  f->lines = {};
  f->lines.run = add_lines, f->lines.context = f;
  f->lines.kernel_h = 1;
}

void make_pooling(DescribedFunction* f) {
  f->lines = {};
  f->lines.run = pool_lines, f->lines.context = f;
  f->lines.kernel_h = f->kernel_h, f->lines.stride_h = f->stride_h, f->lines.pad_top = f->pad_top;
}

}  // namespace tool
