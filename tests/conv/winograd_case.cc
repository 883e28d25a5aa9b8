// SPDX-License-Identifier: Apache-2.0
// Makes the plan of a Winograd run, and computes the expected output.
#include "conv/winograd_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>

#include "dispatch/tables/formats.h"
#include "dispatch/tables/tier_ops.h"
#include "dispatch/tables/transforms.h"
#include "support/reference.h"

namespace octet_test {

std::ostream& operator<<(std::ostream& out, const WinogradCase& c) {
  return out << c.implementation->name << ' ' << c.batch << 'x' << c.in_h << 'x' << c.in_w << 'x'
             << c.in_channels << "->" << c.out_channels << " groups " << c.groups << " pads "
             << c.top << ' ' << c.bottom << ' ' << c.left << ' ' << c.right
             << (c.lhs_u8 ? " u8" : " s8") << (c.rhs_u8 ? "u8" : "s8") << " input " << c.input
             << " kernel " << c.kernel_h << 'x' << c.kernel_w << " stride " << c.stride
             << " weight " << c.weight << " zero point " << c.zero_point
             << (c.runtime_zero_point ? " at run time" : "") << " store " << (int)c.store << " gap "
             << c.gap << " tasks " << c.tasks;
}

WinogradRun::WinogradRun(const octet::MicroKernel& kernel, const WinogradCase& c)
    : kernel_(kernel),
      c_(c),
      random_((uint32_t)(c.in_h * 31 + c.in_w * 17 + c.in_channels + c.out_channels)) {
  const size_t stride = c.implementation == &octet::winograd_2x2_s2_algorithm ? 2 : c.stride;
  shape_ = {c.batch,        c.in_h,   c.in_w,     c.in_channels,
            c.out_channels, c.groups, c.kernel_h, c.kernel_w,
            stride,         stride,   1,          1,
            c.top,          c.bottom, c.left,     c.right,
            false,          0,        0};
  out_h_ = conv_out_h(shape_, c.in_h);
  out_w_ = conv_out_w(shape_, c.in_w);
  outputs_ = c.batch * out_h_ * out_w_ * c.out_channels;
  make_data();
  make_plan();
  if (c.implementation == &octet::winograd_2x2_int8_algorithm) quantize_weights();
}

void WinogradRun::check() {
  ASSERT_EQ(c_.implementation->refuse(shape_, {0, 0}), nullptr);
  run();
  const bool approximates = c_.implementation == &octet::winograd_2x2_int8_algorithm;
  std::vector<int32_t> inputs;
  for (size_t i = 0; i < outputs_; ++i) {
    const size_t n = i % c_.out_channels, pixel = i / c_.out_channels;
    if (n % shape_.group_out() == 0)
      inputs = approximates ? quantized_inputs(pixel, n / shape_.group_out())
                            : window(pixel, n / shape_.group_out());
    const int64_t acc = approximates ? approximate(pixel, n, inputs) : exact(n, inputs);
    if (c_.store == Store::kS32) {
      ASSERT_EQ(dst_.data<int32_t>()[i], acc)
          << kernel_.name << ' ' << c_ << " at pixel " << pixel << " channel " << n;
      continue;
    }
    const float scale =
        c_.runtime_zero_point ? lhs_scales_[pixel / (out_h_ * out_w_)] * scales_[n] : scales_[n];
    const float residual =
        c_.store == Store::kResidual ? fl((double)residual_.data()[i] - 5) * 0.75f : 0;
    const int32_t want = requantize(acc, scale, residual, dst_zero_point(), lo(), hi());
    ASSERT_EQ(dst_.data()[i], (uint8_t)want) << kernel_.name << ' ' << c_ << " at pixel " << pixel
                                             << " channel " << n << " accumulator " << acc;
  }
}

void WinogradRun::make_data() {
  pixel_ = c_.in_channels + c_.gap;
  row_ = c_.in_w * pixel_ + c_.gap;
  image_ = c_.in_h * row_ + c_.gap;
  const size_t last =
      (c_.batch - 1) * image_ + (c_.in_h - 1) * row_ + (c_.in_w - 1) * pixel_ + c_.in_channels;
  lhs_ = Guarded(last, (c_.in_h + c_.in_channels) % 2 ? Side::kBack : Side::kFront);
  for (size_t i = 0; i < last; ++i) lhs_.data()[i] = byte(c_.input, c_.lhs_u8);
  weights_ = Guarded(shape_.taps() * shape_.group_in() * c_.out_channels, Side::kBack);
  const size_t per_output = shape_.taps() * shape_.group_in();
  for (size_t i = 0; i < weights_.bytes(); ++i) {
    const bool zero = c_.zero_every && i % per_output % c_.zero_every == 0;
    weights_.data()[i] = byte(zero ? 0 : c_.weight, c_.rhs_u8);
  }
  // Padded rows of the zero point, one per image with a run-time one.
  zero_row_ = octet::round_up(c_.in_channels, 64) + 64;
  zeros_ = Guarded(zero_row_ * c_.batch, Side::kBack);
  for (size_t i = 0; i < zeros_.bytes(); ++i) zeros_.data()[i] = (uint8_t)zero_point(i / zero_row_);
}

const uint8_t* WinogradRun::weight_at(size_t o, size_t ky, size_t kx, size_t i) const {
  const size_t depth = shape_.group_in(), h = c_.kernel_h, w = c_.kernel_w;
  return weights_.data() +
         (c_.ohwi ? ((o * h + ky) * w + kx) * depth + i : ((o * depth + i) * h + ky) * w + kx);
}

void WinogradRun::make_plan() {
  const octet::RhsLayout& layout = kernel_.rhs_layout;
  payload_ = Guarded(c_.implementation->payload_bytes(layout, shape_), Side::kBack, 64);
  const size_t depth = shape_.group_in();
  const int32_t zero = c_.rhs_u8 ? 128 : 0;
  const size_t taps = shape_.taps(), line = c_.kernel_w;
  const octet::FilterView filter = {weights_.data(),
                                    shape_.group_out() * taps * depth,
                                    taps * depth,
                                    c_.ohwi ? line * depth : line,
                                    c_.ohwi ? depth : 1,
                                    c_.ohwi ? 1 : taps,
                                    type_of(c_.rhs_u8),
                                    &zero,
                                    1};
  std::vector<int32_t> positive(c_.out_channels), negative(c_.out_channels);
  c_.implementation->pack(*octet::find_format_of(layout), shape_, filter, c_.tap_ranges,
                          {positive.data(), negative.data()}, payload_.data());
  payload_.read_only();

  const size_t padded = octet::round_up(c_.out_channels, 64) + 64;
  bias_.assign(padded, 0);
  weight_sum_.assign(padded, 0);
  scales_.assign(padded, 1.0f);
  const int32_t shift = octet::type_shift(type_of(c_.lhs_u8), kernel_.lhs_element_type);
  for (size_t o = 0; o < c_.out_channels; ++o) {
    for (size_t tap = 0; tap < taps; ++tap)
      for (size_t i = 0; i < depth; ++i) {
        plain_.push_back(weight(o, tap / line, tap % line, i));
        weight_sum_[o] += plain_.back();
      }
    raw_bias_.push_back((int32_t)(random_() % 20001) - 10000);
    scales_[o] = (o % 3 ? 1.0f : 2.2f) / (20.0f * (float)(depth + 4));
    bias_[o] = (int32_t)((uint32_t)raw_bias_[o] -
                         (c_.runtime_zero_point
                              ? 0u
                              : (uint32_t)(c_.zero_point + shift) * (uint32_t)weight_sum_[o]));
  }
  for (size_t b = 0; b < c_.batch; ++b) {
    lhs_zero_points_.push_back(zero_point(b));
    lhs_scales_.push_back(0.5f + (float)b * 0.3f);
  }
  plan_.shape = shape_;
  plan_.implementation = c_.implementation;
  plan_.kernel = &kernel_;
  plan_.ops = &octet::ops_of(kernel_.tier_id);
  plan_.transforms = &octet::transforms_of(kernel_.tier_id);
  plan_.lhs_type = type_of(c_.lhs_u8);
  plan_.lhs_flip = shift ? 0x80 : 0;
  plan_.lhs_shift = shift;
  plan_.runtime_zero_point = c_.runtime_zero_point;
  plan_.static_zero_point = c_.zero_point;
  plan_.requantize_in_kernel = c_.store == Store::kRequantization &&
                               kernel_.is(octet::kRequantizes) && !c_.runtime_zero_point;
  plan_.requantization = {dst_zero_point(), lo(), hi(), type_of(c_.dst_u8)};
  octet::Epilogue& f = plan_.epilogue;
  f.mode = c_.store == Store::kS32 ? octet::EpilogueMode::kS32 : octet::EpilogueMode::kFloat8;
  f.dst_type = type_of(c_.dst_u8);
  f.has_residual = c_.store == Store::kResidual;
  f.residual_type = octet::ElementType::kU8;
  f.residual_zero_point = 5;
  f.residual_scale = 0.75f;
  f.scale = scales_.data();
  f.zero_point = dst_zero_point();
  f.lo = lo();
  f.hi = hi();
  f.lo_f32 = (float)(lo() - dst_zero_point());
  f.hi_f32 = (float)(hi() - dst_zero_point());
  plan_.dst_bytes = c_.store == Store::kS32 ? 4 : 1;
  plan_.cache_bytes = c_.cache;
  plan_.block = c_.block ? c_.block : c_.implementation->block(plan_);
  plan_.columns.bias = bias_.data();
  plan_.columns.weight_sum = weight_sum_.data();
  plan_.payload = payload_.data();
}

void WinogradRun::run() {
  dst_ = Guarded(outputs_ * plan_.dst_bytes, Side::kBack, plan_.dst_bytes);
  residual_ = Guarded(outputs_, Side::kBack);
  for (size_t i = 0; i < outputs_; ++i) residual_.data()[i] = (uint8_t)random_();
  octet::ConvRun run = {};
  run.batch = c_.batch;
  run.in_h = c_.in_h;
  run.in_w = c_.in_w;
  run.out_h = out_h_;
  run.out_w = out_w_;
  run.pad_top = c_.top;
  run.pad_left = c_.left;
  run.lhs = lhs_.data();
  run.lhs_end = lhs_.data() + lhs_.bytes();
  run.lhs_pixel = pixel_;
  run.lhs_row = row_;
  run.lhs_image = image_;
  run.zero_rows = zeros_.data();
  run.zero_row_stride = c_.runtime_zero_point ? zero_row_ : 0;
  run.lhs_zero_points = c_.runtime_zero_point ? lhs_zero_points_.data() : nullptr;
  run.lhs_scales = c_.runtime_zero_point ? lhs_scales_.data() : nullptr;
  run.to.dst = dst_.data();
  run.to.stride = c_.out_channels * plan_.dst_bytes;
  run.to.residual = c_.store == Store::kResidual ? residual_.data() : nullptr;
  run.to.residual_stride = c_.out_channels;

  const Guarded workspace(
      octet::round_up(c_.implementation->task_workspace(plan_, c_.in_h, c_.in_w, out_h_, out_w_),
                      64),
      Side::kBack, 64);
  const octet::ConvGrain grain = c_.implementation->grain(plan_, out_h_, out_w_);
  // Tasks may begin within a line, and span images
  const size_t units = c_.batch * grain.units, per_task = octet::divide_up(units, c_.tasks);
  const size_t channels =
      octet::round_up(octet::divide_up(c_.out_channels, c_.tasks), grain.channels);
  for (size_t unit = 0; unit < units; unit += per_task)
    for (size_t n = 0; n < c_.out_channels; n += channels)
      c_.implementation->run(
          plan_, run,
          {unit, std::min(unit + per_task, units), n, std::min(n + channels, c_.out_channels)},
          workspace.data());
}

// The values x - zero point of a window, per tap and input channel of the group.
std::vector<int32_t> WinogradRun::window(size_t pixel, size_t group) const {
  const size_t b = pixel / (out_h_ * out_w_), y = pixel / out_w_ % out_h_, x = pixel % out_w_,
               depth = shape_.group_in();
  std::vector<int32_t> inputs;
  for (size_t ky = 0; ky < c_.kernel_h; ++ky)
    for (size_t kx = 0; kx < c_.kernel_w; ++kx) {
      const size_t in_y = y * shape_.stride_h + ky - c_.top,
                   in_x = x * shape_.stride_w + kx - c_.left;
      const bool inside = in_y < c_.in_h && in_x < c_.in_w;
      const uint8_t* const at =
          lhs_.data() + (inside ? b * image_ + in_y * row_ + in_x * pixel_ + group * depth : 0);
      for (size_t i = 0; i < depth; ++i)
        inputs.push_back(inside ? (c_.lhs_u8 ? at[i] : (int8_t)at[i]) - zero_point(b) : 0);
    }
  return inputs;
}

int64_t WinogradRun::exact(size_t o, const std::vector<int32_t>& inputs) const {
  const int32_t* const weights = &plain_[o * inputs.size()];
  int64_t acc = raw_bias_[o];
  for (size_t i = 0; i < inputs.size(); ++i) acc += inputs[i] * weights[i];
  return acc;
}

int32_t WinogradRun::centred(size_t image, size_t y, size_t x, size_t channel) const {
  const bool inside = y < c_.in_h && x < c_.in_w;
  const uint8_t byte = inside ? lhs_.data()[image * image_ + y * row_ + x * pixel_ + channel]
                              : (uint8_t)zero_point(image);
  return c_.lhs_u8 ? byte - 128 : (int8_t)byte;
}

// Scales each tap of G w G^T, where G has a factor of 2, so that the largest weight becomes 127; a
// product then stands for largest / 127 / 4 inputs.
void WinogradRun::quantize_weights() {
  static constexpr int kG[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
  const size_t depth = shape_.group_in();
  quantized_.resize(c_.out_channels * depth * 16);
  tap_scales_.resize(c_.out_channels * 16);
  for (size_t o = 0; o < c_.out_channels; ++o)
    for (size_t tap = 0; tap < 16; ++tap) {
      int32_t* const column = &quantized_[o * depth * 16 + tap];
      int32_t largest = 0;
      for (size_t i = 0; i < depth; ++i) {
        int32_t sum = 0;
        for (size_t ky = 0; ky < 3; ++ky)
          for (size_t kx = 0; kx < 3; ++kx)
            sum += kG[tap / 4][ky] * kG[tap % 4][kx] * plain_[(o * 9 + ky * 3 + kx) * depth + i];
        column[i * 16] = sum;
        largest = std::max(largest, std::abs(sum));
      }
      for (size_t i = 0; i < depth; ++i)
        // The division is exact enough; halves go away from zero
        column[i * 16] = largest ? (int32_t)std::round(127.0 * column[i * 16] / largest) : 0;
      tap_scales_[o * 16 + tap] = fl((double)largest * 32768 / ((double)factor(tap) * 508));
    }
}

int32_t WinogradRun::factor(size_t tap) const {
  const float range = c_.tap_ranges ? c_.tap_ranges[tap] : 512.0f;
  return (int32_t)std::min(
      32767.0, std::max(1.0, std::floor((double)fl(127.0 * 32768 / (double)range) + 0.5)));
}

// The quantized values of B^T d B of this pixel's tile, per input channel of the group and tap.
std::vector<int32_t> WinogradRun::quantized_inputs(size_t pixel, size_t group) const {
  static constexpr int kB[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}};
  const size_t b = pixel / (out_h_ * out_w_), y = pixel / out_w_ % out_h_, x = pixel % out_w_,
               depth = shape_.group_in(), first = group * depth;
  std::vector<int32_t> inputs;
  for (size_t i = 0; i < depth; ++i)
    for (size_t tap = 0; tap < 16; ++tap) {
      int32_t sum = 0;
      for (size_t j = 0; j < 4; ++j)
        for (size_t k = 0; k < 4; ++k)
          if (const int sign = kB[tap / 4][j] * kB[tap % 4][k])
            sum += sign * centred(b, y / 2 * 2 + j - c_.top, x / 2 * 2 + k - c_.left, first + i);
      const int32_t rounded = (int32_t)std::floor(((double)sum * factor(tap) + 16384) / 32768);
      inputs.push_back(std::min(127, std::max(-128, rounded)));
    }
  return inputs;
}

int64_t WinogradRun::approximate(size_t pixel, size_t o, const std::vector<int32_t>& inputs) const {
  const size_t b = pixel / (out_h_ * out_w_), y = pixel / out_w_ % out_h_, x = pixel % out_w_;
  const int32_t* const weights = &quantized_[o * inputs.size()];
  int64_t products[16] = {};
  for (size_t i = 0; i < inputs.size(); ++i) products[i % 16] += inputs[i] * weights[i];
  float line[4];
  for (size_t k = 0; k < 4; ++k) {
    float d[4];
    for (size_t j = 0; j < 4; ++j)
      d[j] = fl((double)fl((double)products[j * 4 + k]) * (double)tap_scales_[o * 16 + j * 4 + k]);
    line[k] = y % 2 == 0 ? d[0] + d[1] + d[2] : d[1] - d[2] + d[3];
  }
  const float value = x % 2 == 0 ? line[0] + line[1] + line[2] : line[1] - line[2] + line[3];
  const int64_t centre = c_.lhs_u8 ? 128 : 0;
  return round_half_even((double)value) + raw_bias_[o] - (zero_point(b) - centre) * weight_sum_[o];
}

}  // namespace octet_test
