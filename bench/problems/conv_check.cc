// SPDX-License-Identifier: Apache-2.0
// Compares a convolution's output with loops over its definition.
#include "bench/problems/conv_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tool {
namespace {

constexpr double kMostMacs = 1 << 26;  // about a tenth of a second

// The input position along one axis that tap k of output position `out` reads, or -1 if there is
// none.
int64_t tap_position(bool transposed, size_t out, size_t k, size_t stride, size_t dilation,
                     size_t before, size_t in) {
  const auto s = [](size_t value) { return (int64_t)value; };
  int64_t position = transposed ? s(out) + s(before) - s(k * dilation)
                                : s(out * stride) + s(k * dilation) - s(before);
  if (transposed) {
    if (position % s(stride) != 0) return -1;
    position /= s(stride);
  }
  return position < 0 || position >= s(in) ? -1 : position;
}

// An input less the zero point.
int32_t lhs_at(const ConvData& d, size_t i) {
  return d.types.lhs == OCTET_S16 ? d.lhs.as<int16_t>()[i]
                                  : byte_at(d.lhs, d.types.lhs, i) - d.lhs_zero_point;
}

// Gathers the inputs of one group for an output pixel, less the zero point: taps x channels.
// Padding is 0.
void gather_window(const ConvData& d, size_t image, size_t y, size_t x, size_t group,
                   std::vector<int16_t>* window) {
  const octet_conv2d_shape& g = d.shape.geometry;
  const size_t channels = d.shape.group_in();
  window->assign(d.shape.depth(), 0);
  int16_t* out = window->data();
  for (size_t ky = 0; ky < g.kernel_h; ++ky) {
    const int64_t iy =
        tap_position(g.transposed, y, ky, g.stride_h, g.dilation_h, g.pad_top, g.in_h_max);
    for (size_t kx = 0; kx < g.kernel_w; ++kx, out += channels) {
      const int64_t ix =
          tap_position(g.transposed, x, kx, g.stride_w, g.dilation_w, g.pad_left, g.in_w_max);
      if (iy < 0 || ix < 0) continue;
      const size_t pixel = (image * g.in_h_max + (size_t)iy) * g.in_w_max + (size_t)ix;
      const size_t first = pixel * g.in_channels + group * channels;
      for (size_t i = 0; i < channels; ++i) out[i] = (int16_t)lhs_at(d, first + i);
    }
  }
}

// The contract's bound keeps the sums within int32, but those of s16 values.
template <typename Sum, typename Weight>
int64_t dot(const std::vector<int16_t>& window, const Weight* weights, int32_t zero_point) {
  const int16_t zero = (int16_t)zero_point;
  Sum sum = 0;
  for (size_t k = 0; k < window.size(); ++k)
    sum += (Sum)((int32_t)window[k] * (int16_t)(weights[k] - zero));
  return sum;
}

std::vector<size_t> choose_pixels(const ConvShape& shape) {
  const size_t all = shape.out_pixels(), row = shape.out_w, image = shape.out_h * row;
  const double macs = (double)(shape.depth() * shape.geometry.out_channels);
  const size_t affordable = (size_t)std::max(kMostMacs / macs, 16.0);
  std::set<size_t> chosen;
  if (all <= affordable) {
    for (size_t i = 0; i < all; ++i) chosen.insert(i);
  } else {
    for (const size_t corner :
         {size_t{0}, row - 1, image - row, image - 1, all - image, all - row, all - 1})
      chosen.insert(corner);
    Random random(all);
    const auto below = [&](size_t limit) { return random.next() % limit; };
    while (chosen.size() < affordable) {
      const size_t y = below(shape.out_h), x = below(row),
                   first = below(shape.geometry.batch_max) * image;
      switch (below(16)) {
        case 0: chosen.insert(first + x); break;
        case 1: chosen.insert(first + image - row + x); break;
        case 2: chosen.insert(first + y * row); break;
        case 3: chosen.insert(first + y * row + row - 1); break;
        default: chosen.insert(first + y * row + x);
      }
    }
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace

ConvReference::ConvReference(const ConvData& data)
    : data_(data), pixels_(choose_pixels(data.shape)) {
  for (const size_t pixel : pixels_)
    for (const double output : outputs_at(pixel)) outputs_.push_back(output);
}

std::vector<double> ConvReference::outputs_at(size_t pixel) const {
  const ConvData& d = data_;
  const ConvShape& shape = d.shape;
  const size_t x = pixel % shape.out_w, y = pixel / shape.out_w % shape.out_h,
               image = pixel / shape.out_w / shape.out_h;
  std::vector<double> outputs;
  std::vector<int16_t> window;
  for (size_t n = 0; n < shape.geometry.out_channels; ++n) {
    if (n % shape.group_out() == 0) gather_window(d, image, y, x, n / shape.group_out(), &window);
    const int32_t zero_point = of_column(d.filter_zero_points, n);
    const size_t first = n * shape.depth();
    const int64_t acc =
        d.types.lhs == OCTET_S16  ? dot<int64_t>(window, d.filter.as<int8_t>() + first, zero_point)
        : d.types.rhs == OCTET_U8 ? dot<int32_t>(window, d.filter.as() + first, zero_point)
                                  : dot<int32_t>(window, d.filter.as<int8_t>() + first, zero_point);
    outputs.push_back(contract_output(
        d.activation.stage(d.types.dst, d.dst_zero_point), acc + (d.bias.empty() ? 0 : d.bias[n]),
        factor_of(d.scales, d.tflite, n), d.after, pixel * shape.geometry.out_channels + n));
  }
  return outputs;
}

double ConvReference::largest_difference(const void* dst) const {
  const size_t channels = data_.shape.geometry.out_channels;
  double largest = 0;
  for (size_t i = 0; i < outputs_.size(); ++i)
    largest = std::max(
        largest, std::abs(outputs_[i] - value_at(data_.types.dst, dst,
                                                 pixels_[i / channels] * channels + i % channels)));
  return largest;
}

Verdict ConvReference::check(const void* dst, int tolerance) const {
  const octet_type type = data_.types.dst;
  const double allowed = type == OCTET_S8 || type == OCTET_U8 ? tolerance : 0;
  const size_t channels = data_.shape.geometry.out_channels;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const size_t pixel = pixels_[i / channels], n = i % channels;
    const double want = outputs_[i], got = value_at(type, dst, pixel * channels + n);
    if (std::abs(want - got) <= allowed) continue;
    const size_t row = pixel / data_.shape.out_w;
    return {false, fmt::format("image {}, y {}, x {}, channel {}: {} instead of {}",
                               row / data_.shape.out_h, row % data_.shape.out_h,
                               pixel % data_.shape.out_w, n, got, want)};
  }
  return {};
}

}  // namespace tool
