// SPDX-License-Identifier: Apache-2.0
// Drives depthwise kernels and the loops around them directly, and compares them with the
// definition.
#include <random>

#include "operators/conv/algorithms/algorithm.h"
#include "support/guarded.h"
#include "support/kernels.h"
#include "support/reference.h"

namespace octet_test {
namespace {

using octet::ConvPlan;
using octet::ConvRun;
using octet::ConvShape;
using octet::DepthwiseKernel;
using octet::ElementType;
using octet::EpilogueMode;

enum class Store { kS32, kRequantizeS8, kRequantizeU8, kFloat8, kF32, kResidual };

struct Case {
  ConvShape shape;
  bool lhs_u8 = true, rhs_u8 = false;
  Store store = Store::kS32;
  int lhs_byte = -1, rhs_byte = -1;  // -1 = random
  bool runtime = false;              // zero points and scales per image come with the run
  size_t lhs_slack = 0, dst_slack = 0;
  Side side = Side::kBack;
  size_t units_per_task = 0, channels_per_task = 0;  // 0 = all, else as many grains
};

ConvShape shape_of(size_t batch, size_t h, size_t w, size_t channels, size_t multiplier,
                   size_t kernel_h, size_t kernel_w, size_t stride, size_t pad) {
  return {batch,    h,        w,        channels, channels * multiplier,
          channels, kernel_h, kernel_w, stride,   stride,
          1,        1,        pad,      pad,      pad,
          pad,      false,    0,        0};
}

std::string describe(const DepthwiseKernel& kernel, const Case& c) {
  const ConvShape& s = c.shape;
  std::string text = kernel.name;
  for (const size_t value :
       {s.batch, s.in_h, s.in_w, s.in_channels, s.out_channels, s.kernel_h, s.kernel_w, s.stride_h,
        s.stride_w, s.dilation_h, s.dilation_w, s.pad_top, s.pad_bottom, s.pad_left, s.pad_right,
        c.lhs_slack, c.dst_slack, c.units_per_task, c.channels_per_task})
    text += ' ' + std::to_string(value);
  return text + (c.lhs_u8 ? " u8" : " s8") + (c.rhs_u8 ? "u8" : "s8") + " store " +
         std::to_string((int)c.store) + " bytes " + std::to_string(c.lhs_byte) + ' ' +
         std::to_string(c.rhs_byte) + (c.runtime ? " runtime" : "");
}

octet::ElementType type_of(bool u8) {
  return u8 ? octet::ElementType::kU8 : octet::ElementType::kS8;
}

int32_t read(uint8_t byte, bool is_u8) { return is_u8 ? byte : (int8_t)byte; }

class Work {
 public:
  Work(const DepthwiseKernel& kernel, const Case& c)
      : kernel_(kernel),
        c_(c),
        s_(c.shape),
        random_(describe(kernel, c).size() * 7919 + s_.in_channels),
        shift_(octet::type_shift(type_of(c.lhs_u8), kernel.lhs_element_type)),
        zero_stride_(octet::round_up(s_.in_channels, 64) + 64) {
    out_h_ = octet::conv_out_h(s_, s_.in_h);
    out_w_ = octet::conv_out_w(s_, s_.in_w);
    make_inputs();
    make_columns();
    make_plan();
    make_run();
  }

  void run() {
    const octet::ConvGrain grain = plan_.implementation->grain(plan_, out_h_, out_w_);
    const size_t units = s_.batch * grain.units,
                 per = c_.units_per_task ? c_.units_per_task : units;
    const size_t channels =
        c_.channels_per_task ? c_.channels_per_task * grain.channels : s_.out_channels;
    Guarded workspace(plan_.implementation->task_workspace(plan_, s_.in_h, s_.in_w, out_h_, out_w_),
                      c_.side, 64);
    for (size_t unit = 0; unit < units; unit += per)
      for (size_t n0 = 0; n0 < s_.out_channels; n0 += channels) {
        std::memset(workspace.data(), 0x5A, workspace.bytes());
        plan_.implementation->run(
            plan_, run_,
            {unit, std::min(unit + per, units), n0, std::min(n0 + channels, s_.out_channels)},
            workspace.data());
      }
  }

  void check() {
    size_t pixel = 0;
    for (size_t b = 0; b < s_.batch; ++b)
      for (size_t y = 0; y < out_h_; ++y)
        for (size_t x = 0; x < out_w_; ++x, ++pixel) {
          for (size_t n = 0; n < s_.out_channels; ++n)
            ASSERT_TRUE(right(pixel, n, accumulator(b, y, x, n)))
                << describe(kernel_, c_) << " at " << b << ' ' << y << ' ' << x << ' ' << n;
          for (size_t i = s_.out_channels * plan_.dst_bytes; i < dst_pixel_ && pixel + 1 < pixels_;
               ++i)
            ASSERT_EQ(dst_.data()[pixel * dst_pixel_ + i], Guarded::kUntouched)
                << describe(kernel_, c_) << " wrote beyond a pixel";
        }
  }

 private:
  // Random bytes, and zero points per image.
  void make_inputs() {
    pixel_ = s_.in_channels + c_.lhs_slack;
    lhs_ = Guarded(s_.batch * s_.in_h * s_.in_w * pixel_ - c_.lhs_slack, c_.side);
    for (size_t i = 0; i < lhs_.bytes(); ++i) lhs_.data()[i] = byte(c_.lhs_byte);
    filter_.resize(s_.out_channels * s_.taps());
    for (uint8_t& b : filter_) b = byte(c_.rhs_byte);
    // In int16, weights lie without their zero points.
    const int32_t least = c_.rhs_u8 ? 0 : -128, values[] = {least, least + 255};
    for (size_t j = 0;
         kernel_.layout.element_type == octet::ElementType::kS16 && j < s_.out_channels; ++j)
      filter_zero_points_.push_back(j % 4 < 2 ? values[j % 2] : least + (int32_t)(random_() % 256));

    for (size_t i = 0; i < s_.batch; ++i) {
      zero_points_.push_back(c_.runtime || i == 0
                                 ? (int32_t)(random_() % 256) - (c_.lhs_u8 ? 0 : 128)
                                 : zero_points_[0]);
      lhs_scales_.push_back(0.5f + (float)i);
    }
    zeros_ = Guarded(s_.batch * zero_stride_, c_.side);
    for (size_t i = 0; i < zeros_.bytes(); ++i)
      zeros_.data()[i] = (uint8_t)zero_points_[i / zero_stride_];
  }

  // Arrays over output channels, and the packed filter.
  void make_columns() {
    const size_t padded = s_.out_channels + 64;
    bias_ = Guarded(padded * 4, c_.side, 4);
    sums_ = Guarded(padded * 4, c_.side, 4);
    scale_ = Guarded(padded * 4, c_.side, 4);
    init_ = Guarded(padded * 4, c_.side, 4);
    for (size_t j = 0; j < padded; ++j) {
      bias_.data<int32_t>()[j] = (int32_t)(random_() % 20001) - 10000;
      scale_.data<float>()[j] = 0.001f * (float)(1 + j % 11);
      int32_t sum = 0;
      for (size_t tap = 0; j < s_.out_channels && tap < s_.taps(); ++tap) sum += weight(j, tap);
      sums_.data<int32_t>()[j] = sum;
      init_.data<int32_t>()[j] =
          bias_.data<int32_t>()[j] - (c_.runtime ? 0 : (zero_points_[0] + shift_) * sum);
    }
    const octet::FilterView view = {filter_.data(),
                                    s_.taps() * s_.group_out(),
                                    s_.taps(),
                                    s_.kernel_w,
                                    1,
                                    1,
                                    type_of(c_.rhs_u8),
                                    filter_zero_points_.data(),
                                    filter_zero_points_.size()};
    payload_ = Guarded(octet::depthwise_algorithm.payload_bytes(kernel_.layout, s_), c_.side, 64);
    std::vector<int32_t> positive(s_.out_channels), negative(s_.out_channels);
    octet::depthwise_algorithm.pack(*octet::find_format_of(kernel_.layout), s_, view, nullptr,
                                    {positive.data(), negative.data()}, payload_.data());
  }

  void make_plan() {
    plan_.shape = s_;
    plan_.implementation = &octet::depthwise_algorithm;
    plan_.depthwise = &kernel_;
    plan_.ops = &octet::ops_of(kernel_.tier_id);
    plan_.lhs_type = type_of(c_.lhs_u8);
    plan_.lhs_flip = shift_ ? 0x80 : 0;
    plan_.lhs_shift = shift_;
    plan_.runtime_zero_point = c_.runtime;
    plan_.static_zero_point = zero_points_[0];
    plan_.dst_bytes = c_.store == Store::kS32 || c_.store == Store::kF32 ? 4 : 1;
    plan_.block = octet::depthwise_algorithm.block(plan_);
    plan_.columns.bias = init_.data<int32_t>();
    plan_.columns.weight_sum = sums_.data<int32_t>();
    plan_.payload = payload_.data();
    const bool requantize_u8 = c_.store == Store::kRequantizeU8;
    plan_.requantize_in_kernel = c_.store == Store::kRequantizeS8 || requantize_u8;
    plan_.requantization = requantize_u8 ? octet::Requantization{77, 3, 250, type_of(true)}
                                         : octet::Requantization{-5, -128, 120, type_of(false)};
    octet::Epilogue& f = plan_.epilogue;
    f.mode = c_.store == Store::kS32   ? EpilogueMode::kS32
             : c_.store == Store::kF32 ? EpilogueMode::kF32
                                       : EpilogueMode::kFloat8;
    f.dst_type = plan_.requantization.dst_type;
    f.scale = scale_.data<float>();
    f.zero_point = plan_.requantization.zero_point;
    f.lo = plan_.requantization.lo;
    f.hi = plan_.requantization.hi;
    f.lo_f32 = (float)(f.lo - f.zero_point);
    f.hi_f32 = (float)(f.hi - f.zero_point);
    if (c_.store == Store::kF32) f.lo_f32 = -1e30f, f.hi_f32 = 1e30f;
    f.has_residual = f.fits_int32 = c_.store == Store::kResidual;
    f.residual_scale = 0.25f, f.residual_zero_point = 3;
  }

  void make_run() {
    dst_pixel_ = (s_.out_channels + c_.dst_slack) * plan_.dst_bytes;
    pixels_ = s_.batch * out_h_ * out_w_;
    dst_ = Guarded(pixels_ * dst_pixel_ - c_.dst_slack * plan_.dst_bytes, c_.side, plan_.dst_bytes);
    residual_pixel_ = c_.lhs_slack ? s_.out_channels : dst_pixel_;
    residual_ = Guarded((pixels_ - 1) * residual_pixel_ + s_.out_channels, c_.side);
    for (size_t i = 0; i < residual_.bytes(); ++i) residual_.data()[i] = byte(-1);
    run_.batch = s_.batch;
    run_.in_h = s_.in_h;
    run_.in_w = s_.in_w;
    run_.out_h = out_h_;
    run_.out_w = out_w_;
    run_.pad_top = s_.pad_top;
    run_.pad_left = s_.pad_left;
    run_.lhs = lhs_.data();
    run_.lhs_end = lhs_.data() + lhs_.bytes();
    run_.lhs_pixel = pixel_;
    run_.lhs_row = s_.in_w * pixel_;
    run_.lhs_image = s_.in_h * run_.lhs_row;
    run_.zero_rows = zeros_.data();
    run_.zero_row_stride = c_.runtime ? zero_stride_ : 0;
    if (c_.runtime) {
      run_.lhs_zero_points = zero_points_.data();
      if (c_.store == Store::kF32) run_.lhs_scales = lhs_scales_.data();
    }
    run_.to.dst = dst_.data();
    run_.to.stride = dst_pixel_;
    if (plan_.epilogue.has_residual) {
      run_.to.residual = residual_.data();
      run_.to.residual_stride = residual_pixel_;
    }
  }

  uint8_t byte(int fixed) { return (uint8_t)(fixed < 0 ? random_() : (uint32_t)fixed); }
  int32_t weight(size_t n, size_t tap) const {
    const int32_t w = read(filter_[n * s_.taps() + tap], c_.rhs_u8);
    return w - (filter_zero_points_.empty() ? c_.rhs_u8 ? 128 : 0 : filter_zero_points_[n]);
  }

  int32_t accumulator(size_t b, size_t y, size_t x, size_t n) const {
    int32_t acc = bias_.data<int32_t>()[n];
    for (size_t ky = 0; ky < s_.kernel_h; ++ky)
      for (size_t kx = 0; kx < s_.kernel_w; ++kx) {
        const int64_t iy = (int64_t)(y * s_.stride_h + ky * s_.dilation_h) - (int64_t)s_.pad_top;
        const int64_t ix = (int64_t)(x * s_.stride_w + kx * s_.dilation_w) - (int64_t)s_.pad_left;
        if (iy < 0 || ix < 0 || iy >= (int64_t)s_.in_h || ix >= (int64_t)s_.in_w) continue;
        const uint8_t* at = lhs_.data() +
                            ((b * s_.in_h + (size_t)iy) * s_.in_w + (size_t)ix) * pixel_ +
                            n / s_.group_out();
        acc += (read(*at, c_.lhs_u8) - zero_points_[b]) * weight(n, ky * s_.kernel_w + kx);
      }
    return acc;
  }

  bool right(size_t pixel, size_t n, int32_t acc) const {
    const uint8_t* at = dst_.data() + pixel * dst_pixel_ + n * plan_.dst_bytes;
    const float scale = scale_.data<float>()[n];
    if (c_.store == Store::kS32) {
      int32_t value;
      std::memcpy(&value, at, 4);
      return value == acc;
    }
    if (c_.store == Store::kF32) {
      float value;
      std::memcpy(&value, at, 4);
      const float all =
          run_.lhs_scales ? fl((double)lhs_scales_[pixel / (out_h_ * out_w_)] * scale) : scale;
      return value == fl((double)((float)acc) * all);
    }
    const float residual =
        c_.store == Store::kResidual
            ? fl(((int8_t)residual_.data()[pixel * residual_pixel_ + n] - 3) * 0.25)
            : 0;
    return *at == (uint8_t)requantize(acc, scale, residual, plan_.requantization.zero_point,
                                      plan_.requantization.lo, plan_.requantization.hi);
  }

  const DepthwiseKernel& kernel_;
  const Case c_;
  const ConvShape& s_ = c_.shape;
  std::mt19937 random_;
  const int32_t shift_;       // added to the caller's zero point for the kernel's element type
  const size_t zero_stride_;  // bytes from an image's zero points to the next
  size_t out_h_, out_w_, pixel_, dst_pixel_, residual_pixel_, pixels_;
  Guarded lhs_, zeros_, bias_, sums_, scale_, init_, payload_, dst_, residual_;
  std::vector<uint8_t> filter_;
  std::vector<int32_t> zero_points_, filter_zero_points_;
  std::vector<float> lhs_scales_;
  ConvPlan plan_ = {};
  ConvRun run_ = {};
};

class Depthwise : public testing::TestWithParam<const DepthwiseKernel*> {
 protected:
  void SetUp() override {
    if (!is_to_test(*GetParam()))
      GTEST_SKIP() << GetParam()->name
                   << ": this CPU does not run its tier, or another run tests it";
  }
  void check(const Case& c) {
    Work work(*GetParam(), c);
    work.run();
    work.check();
  }
};

std::vector<const DepthwiseKernel*> kernels() {
  std::vector<const DepthwiseKernel*> list;
  for (const DepthwiseKernel* kernel : octet::depthwise_kernels())
    if (!(kernel->layout == octet::kGroupedLayout)) list.push_back(kernel);
  return list;
}
INSTANTIATE_TEST_SUITE_P(, Depthwise, testing::ValuesIn(kernels()),
                         [](const auto& info) { return std::string(info.param->name); });

constexpr Store kEpilogueCases[] = {Store::kRequantizeS8, Store::kS32, Store::kRequantizeU8,
                                    Store::kFloat8,       Store::kF32, Store::kResidual};

TEST_P(Depthwise, ThreeByThree) {
  size_t turn = 0;
  for (const size_t channels : {1, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 144})
    for (size_t width = 1; width <= 9; ++width)
      for (const size_t stride : {1, 2}) {
        Case c = {shape_of(1, 1 + (turn * 5 + width) % 6, width, channels, 1, 3, 3, stride, 1)};
        c.lhs_u8 = turn % 2;
        c.store = kEpilogueCases[turn++ % 6];
        c.side = turn % 5 ? Side::kBack : Side::kFront;
        check(c);
        if (HasFatalFailure()) return;
      }
}

// 3x3 kernels have a fast path of their own; shapes that differ from it in one number do not take
// it.
TEST_P(Depthwise, AlmostThreeByThree) {
  size_t ConvShape::*const kFields[] = {&ConvShape::kernel_h,   &ConvShape::kernel_w,
                                        &ConvShape::stride_h,   &ConvShape::stride_w,
                                        &ConvShape::dilation_h, &ConvShape::dilation_w};
  for (const auto field : kFields)
    for (const size_t value : {1, 2, 3, 4, 5})
      for (const size_t stride : {1, 2})
        for (const size_t channels : {5, 70}) {
          Case c = {shape_of(2, 9, 10, channels, 1, 3, 3, stride, 1)};
          c.shape.*field = value;
          c.store = kEpilogueCases[(value + stride) % 6];
          check(c);
          if (HasFatalFailure()) return;
        }
}

TEST_P(Depthwise, Extremes) {
  for (const size_t kernel : {1, 2, 3, 5})
    for (const size_t stride : {1, 2})
      for (const int lhs_byte : {0x00, 0x7f, 0x80, 0xff})
        for (const int rhs_byte : {0x7f, 0x80, 0x81})
          for (int types = 0; types < 4; ++types) {
            Case c = {shape_of(1, 5, 6, 40, 1, kernel, kernel, stride, kernel / 2)};
            c.lhs_byte = lhs_byte;
            c.rhs_byte = rhs_byte;
            c.lhs_u8 = types & 1;
            c.rhs_u8 = types & 2;
            check(c);
            if (HasFatalFailure()) return;
          }
}

TEST_P(Depthwise, LongLines) {  // more columns than one call of the epilogue takes
  for (const Store store : kEpilogueCases)
    for (const size_t stride : {1, 2})
      for (const size_t kernel : {3, 5}) {
        Case c = {shape_of(2, 5, 41, 70, 1, kernel, kernel, stride, kernel / 2)};
        c.store = store;
        check(c);
        if (HasFatalFailure()) return;
      }
}

// A channel has several outputs: a block has one channel, several, or ends amid one.
TEST_P(Depthwise, Multipliers) {
  size_t turn = 0;
  for (const size_t multiplier : {2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 31, 64, 65, 200})
    for (const size_t channels : {1, 2, 3, 10, 33})
      for (const size_t kernel : {3, 4}) {
        Case c = {shape_of(1, 3, 1 + turn % 7, channels, multiplier, kernel, kernel, 1 + turn % 2,
                           kernel / 2)};
        c.lhs_u8 = turn % 3;
        c.store = kEpilogueCases[turn++ % 6];
        c.side = turn % 4 ? Side::kBack : Side::kFront;
        check(c);
        if (HasFatalFailure()) return;
      }
}

TEST_P(Depthwise, Anything) {
  std::mt19937 random(1);
  const auto pick = [&](size_t lo, size_t hi) { return lo + random() % (hi - lo + 1); };
  Case c = {};
  ConvShape& s = c.shape;
  for (int i = 0; i < 1500 / kFewer; ++i, c = {}) {
    s.batch = pick(1, 3);
    s.in_h = pick(0, 9) ? pick(1, 9) : pick(30, 80);  // more lines than a call takes
    s.in_w = pick(1, 9);
    static constexpr size_t kChannels[] = {1, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 144};
    s.in_channels = s.groups = kChannels[pick(0, 12)];
    s.out_channels = s.in_channels * (pick(0, 3) ? 1 : pick(2, 3));
    const bool walk = pick(0, 2) == 0, five = !walk && pick(0, 2) == 0;
    s.kernel_h = walk ? 3 : five ? 5 : pick(1, 7);
    s.kernel_w = walk ? 3 : five ? 5 : pick(1, 7);
    s.stride_h = walk ? pick(1, 2) : pick(1, 4);
    s.stride_w = walk ? s.stride_h : pick(1, 4);
    s.dilation_h = walk || five ? 1 : pick(1, 3);
    s.dilation_w = walk || five ? 1 : pick(1, 3);
    for (size_t* pad : {&s.pad_top, &s.pad_bottom, &s.pad_left, &s.pad_right})
      *pad = pick(0, 3) ? pick(0, 3) : pick(0, 20);
    const size_t high = s.dilation_h * (s.kernel_h - 1) + 1,
                 wide = s.dilation_w * (s.kernel_w - 1) + 1;
    if (s.in_h + s.pad_top + s.pad_bottom < high) s.pad_bottom += high;
    if (s.in_w + s.pad_left + s.pad_right < wide) s.pad_right += wide;
    c.lhs_u8 = random() & 1;
    c.rhs_u8 = random() & 1;
    c.store = kEpilogueCases[pick(0, 5)];
    c.runtime =
        (random() & 1) && c.store != Store::kRequantizeS8 && c.store != Store::kRequantizeU8;
    c.lhs_slack = pick(0, 3) ? 0 : pick(1, 70);
    c.dst_slack = pick(0, 3) ? 0 : pick(1, 70);
    c.side = pick(0, 3) ? Side::kBack : Side::kFront;
    c.units_per_task = pick(0, 2);
    c.channels_per_task = pick(0, 1);
    check(c);
    if (HasFatalFailure()) return;
  }
}

TEST(DepthwiseAlgorithm, Refuses) {
  const octet::ConvAlgorithm& m = octet::depthwise_algorithm;
  ConvShape s = shape_of(1, 5, 5, 8, 2, 3, 3, 1, 1);
  EXPECT_EQ(m.refuse(s, {0, 0}), nullptr);
  EXPECT_EQ(m.refuse(s, {-128, 127}), nullptr);
  s.transposed = true;
  EXPECT_NE(m.refuse(s, {0, 0}), nullptr);
  s.transposed = false;
  s.groups = 4;
  EXPECT_NE(m.refuse(s, {0, 0}), nullptr);
  s.groups = 8;
  s.kernel_h = s.kernel_w = SIZE_MAX / 2;
  EXPECT_EQ(m.payload_bytes(octet::kDepthwiseLayout, s), 0u);
}

}  // namespace
}  // namespace octet_test
