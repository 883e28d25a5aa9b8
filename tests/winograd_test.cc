// Winograd's methods, driven directly, on every kernel of words: equal to the sum over seven loops, whatever the data.
#include <memory>
#include <random>

#include "kernels/conv/conv.h"
#include "support/guarded.h"
#include "support/kernels.h"
#include "support/reference.h"

namespace octet_test {
namespace {

using octet::ConvMethod;
using octet::ConvShape;


enum class Exit { kS32, kNarrow, kFinish, kResidual };

struct Case {
  const ConvMethod* method = &octet::winograd_4x4_method;
  size_t batch = 1, in_h = 8, in_w = 8, in_channels = 8, out_channels = 8, groups = 1;
  size_t top = 1, bottom = 1, left = 1, right = 1;
  bool lhs_u8 = true, rhs_u8 = false, dst_u8 = true, ohwi = true;
  int input = -1000, weight = -1000;  // in s8; -1000 = random
  int32_t zero_point = 3;
  bool runtime_zero_point = false;
  Exit exit = Exit::kS32;
  size_t gap = 0;    // bytes between pixels, and as much between lines and images
  size_t tasks = 1;  // lines and channels are cut into about so many
  size_t cache = 1 << 18;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.method->name << ' ' << c.batch << 'x' << c.in_h << 'x' << c.in_w << 'x' << c.in_channels << "->" << c.out_channels << " groups " << c.groups << " pads "
             << c.top << ' ' << c.bottom << ' ' << c.left << ' ' << c.right << (c.lhs_u8 ? " u8" : " s8") << (c.rhs_u8 ? "u8" : "s8") << " input " << c.input << " weight "
             << c.weight << " zero point " << c.zero_point << (c.runtime_zero_point ? " at run time" : "") << " exit " << static_cast<int>(c.exit) << " gap " << c.gap
             << " tasks " << c.tasks;
}

class Runner {
 public:
  Runner(const MicroKernel& kernel, const Case& c) : kernel_(kernel), c_(c), random_(static_cast<uint32_t>(c.in_h * 31 + c.in_w * 17 + c.in_channels + c.out_channels)) {
    const size_t stride = c.method == &octet::winograd_2x2_s2_method ? 2 : 1;
    shape_ = {c.batch, c.in_h, c.in_w, c.in_channels, c.out_channels, c.groups, 3, 3, stride, stride, 1, 1, c.top, c.bottom, c.left, c.right, false, 0, 0};
    out_h_ = conv_out_h(shape_, c.in_h);
    out_w_ = conv_out_w(shape_, c.in_w);
    outputs_ = c.batch * out_h_ * out_w_ * c.out_channels;
    make_data();
    make_plan();
  }

  void check() {
    ASSERT_EQ(c_.method->refuse(shape_, false), nullptr);
    run();
    for (size_t i = 0; i < outputs_; ++i) {
      const size_t n = i % c_.out_channels, pixel = i / c_.out_channels;
      const int64_t acc = accumulator(pixel, n);
      if (c_.exit == Exit::kS32) {
        ASSERT_EQ(dst_.data<int32_t>()[i], acc) << kernel_.name << ' ' << c_ << " at pixel " << pixel << " channel " << n;
        continue;
      }
      const float scale = c_.runtime_zero_point ? lhs_scales_[pixel / (out_h_ * out_w_)] * scales_[n] : scales_[n];
      const float residual = c_.exit == Exit::kResidual ? fl(static_cast<double>(residual_.data()[i]) - 5) * 0.75f : 0;
      const int32_t want = requantize(acc, scale, residual, dst_zero_point(), lo(), hi());
      ASSERT_EQ(dst_.data()[i], static_cast<uint8_t>(want)) << kernel_.name << ' ' << c_ << " at pixel " << pixel << " channel " << n << " accumulator " << acc;
    }
  }

 private:
  int32_t dst_zero_point() const { return c_.dst_u8 ? 119 : -9; }
  int32_t lo() const { return c_.dst_u8 ? 2 : -127; }
  int32_t hi() const { return c_.dst_u8 ? 254 : 126; }
  int32_t zero_point(size_t image) const { return c_.runtime_zero_point ? c_.zero_point + static_cast<int32_t>(image) : c_.zero_point; }

  uint8_t byte(int fixed, bool is_u8) { return static_cast<uint8_t>((fixed == -1000 ? random_() : static_cast<uint32_t>(fixed)) ^ (is_u8 ? 0x80 : 0)); }

  void make_data() {
    pixel_ = c_.in_channels + c_.gap;
    row_ = c_.in_w * pixel_ + c_.gap;
    image_ = c_.in_h * row_ + c_.gap;
    const size_t last = (c_.batch - 1) * image_ + (c_.in_h - 1) * row_ + (c_.in_w - 1) * pixel_ + c_.in_channels;
    lhs_ = Guarded(last, (c_.in_h + c_.in_channels) % 2 ? Side::kBack : Side::kFront);
    for (size_t i = 0; i < last; ++i) lhs_.data()[i] = byte(c_.input, c_.lhs_u8);
    weights_ = Guarded(9 * c_.in_channels / c_.groups * c_.out_channels, Side::kBack);
    for (size_t i = 0; i < weights_.bytes(); ++i) weights_.data()[i] = byte(c_.weight, c_.rhs_u8);
    // Padded rows of the zero point, one per image with a run-time one.
    zero_row_ = octet::round_up(c_.in_channels, 64) + 64;
    zeros_ = Guarded(zero_row_ * c_.batch, Side::kBack);
    for (size_t i = 0; i < zeros_.bytes(); ++i) zeros_.data()[i] = static_cast<uint8_t>(zero_point(i / zero_row_));
  }

  const uint8_t* weight_at(size_t o, size_t ky, size_t kx, size_t i) const {
    const size_t depth = shape_.group_in();
    return weights_.data() + (c_.ohwi ? ((o * 3 + ky) * 3 + kx) * depth + i : ((o * depth + i) * 3 + ky) * 3 + kx);
  }
  int32_t weight(size_t o, size_t ky, size_t kx, size_t i) const {
    return static_cast<int8_t>(*weight_at(o, ky, kx, i) ^ (c_.rhs_u8 ? 0x80 : 0));
  }

  void make_plan() {
    const octet::RhsLayout& layout = kernel_.rhs_layout;
    payload_ = Guarded(c_.method->payload_bytes(layout, shape_), Side::kBack, 64);
    const size_t depth = shape_.group_in();
    const octet::FilterView filter = c_.ohwi
        ? octet::FilterView{weights_.data(), shape_.group_out() * 9 * depth, 9 * depth, 3 * depth, depth, 1, c_.rhs_u8, nullptr, 0}
        : octet::FilterView{weights_.data(), shape_.group_out() * 9 * depth, 9 * depth, 3, 1, 9, c_.rhs_u8, nullptr, 0};
    c_.method->pack(layout, shape_, filter, nullptr, payload_.data());
    payload_.read_only();

    const size_t padded = octet::round_up(c_.out_channels, 64) + 64;
    bias_.assign(padded, 0);
    weight_sum_.assign(padded, 0);
    scales_.assign(padded, 1.0f);
    const int32_t shift = c_.lhs_u8 ? -128 : 0;
    for (size_t o = 0; o < c_.out_channels; ++o) {
      for (size_t tap = 0; tap < 9; ++tap)
        for (size_t i = 0; i < depth; ++i) weight_sum_[o] += weight(o, tap / 3, tap % 3, i);
      raw_bias_.push_back(static_cast<int32_t>(random_() % 20001) - 10000);
      scales_[o] = (o % 3 ? 1.0f : 3.7f) / (20.0f * static_cast<float>(depth + 4));
      bias_[o] = static_cast<int32_t>(static_cast<uint32_t>(raw_bias_[o]) -
                                      (c_.runtime_zero_point ? 0u : static_cast<uint32_t>(c_.zero_point + shift) * static_cast<uint32_t>(weight_sum_[o])));
    }
    for (size_t b = 0; b < c_.batch; ++b) {
      lhs_zero_points_.push_back(zero_point(b));
      lhs_scales_.push_back(0.5f + static_cast<float>(b) * 0.3f);
    }
    plan_.shape = shape_;
    plan_.method = c_.method;
    plan_.kernel = &kernel_;
    plan_.finish_fn = kernel_.finish;
    plan_.row_ops = kernel_.row_ops;
    plan_.lhs_u8 = c_.lhs_u8;
    plan_.lhs_flip = c_.lhs_u8 ? 0x80 : 0;
    plan_.lhs_shift = shift;
    plan_.runtime_zero_point = c_.runtime_zero_point;
    plan_.static_zero_point = c_.zero_point;
    plan_.narrow_in_kernel = c_.exit == Exit::kNarrow && kernel_.is(octet::kNarrows) && !c_.runtime_zero_point;
    plan_.narrow = {dst_zero_point(), lo(), hi(), c_.dst_u8};
    octet::Finish& f = plan_.finish;
    f.mode = c_.exit == Exit::kS32 ? octet::FinishMode::kS32 : octet::FinishMode::kFloat8;
    f.dst_u8 = c_.dst_u8;
    f.has_residual = c_.exit == Exit::kResidual;
    f.residual_u8 = true;
    f.residual_zero_point = 5;
    f.residual_scale = 0.75f;
    f.scale = scales_.data();
    f.zero_point = dst_zero_point();
    f.lo = lo();
    f.hi = hi();
    f.lo_f32 = static_cast<float>(lo() - dst_zero_point());
    f.hi_f32 = static_cast<float>(hi() - dst_zero_point());
    plan_.dst_bytes = c_.exit == Exit::kS32 ? 4 : 1;
    plan_.cache_bytes = c_.cache;
    plan_.bias = bias_.data();
    plan_.weight_sum = weight_sum_.data();
    plan_.payload = payload_.data();
    plan_.payload_bytes = payload_.bytes();
  }

  void run() {
    dst_ = Guarded(outputs_ * plan_.dst_bytes, Side::kBack, plan_.dst_bytes);
    residual_ = Guarded(outputs_, Side::kBack);
    for (size_t i = 0; i < outputs_; ++i) residual_.data()[i] = static_cast<uint8_t>(random_());
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
    run.dst = dst_.data();
    run.dst_pixel = c_.out_channels * plan_.dst_bytes;
    run.residual = c_.exit == Exit::kResidual ? residual_.data() : nullptr;
    run.residual_pixel = c_.out_channels;

    const Guarded workspace(octet::round_up(c_.method->task_workspace(plan_, c_.in_h, c_.in_w, out_h_, out_w_), 64), Side::kBack, 64);
    const octet::ConvGrain grain = c_.method->grain(plan_);
    // Tasks begin at multiples of the grain within an image and may span images.
    std::vector<size_t> lines;
    for (size_t b = 0; b < c_.batch; ++b)
      for (size_t y = 0; y < out_h_; y += grain.lines) lines.push_back(b * out_h_ + y);
    const size_t per_task = octet::divide_up(lines.size(), c_.tasks), channels = octet::round_up(octet::divide_up(c_.out_channels, c_.tasks), grain.channels);
    for (size_t l = 0; l < lines.size(); l += per_task)
      for (size_t n = 0; n < c_.out_channels; n += channels) {
        const octet::ConvTask task = {lines[l], l + per_task < lines.size() ? lines[l + per_task] : c_.batch * out_h_, n, std::min(n + channels, c_.out_channels)};
        c_.method->run(plan_, run, task, workspace.data());
      }
  }

  // (x - zero point) * w over the window; positions outside the image hold the zero point.
  int64_t accumulator(size_t pixel, size_t o) const {
    const size_t b = pixel / (out_h_ * out_w_), y = pixel / out_w_ % out_h_, x = pixel % out_w_, depth = shape_.group_in(), first = o / shape_.group_out() * depth;
    int64_t acc = raw_bias_[o];
    for (size_t ky = 0; ky < 3; ++ky)
      for (size_t kx = 0; kx < 3; ++kx) {
        const size_t in_y = y * shape_.stride_h + ky - c_.top, in_x = x * shape_.stride_w + kx - c_.left;
        if (in_y >= c_.in_h || in_x >= c_.in_w) continue;
        const uint8_t* at = lhs_.data() + b * image_ + in_y * row_ + in_x * pixel_ + first;
        for (size_t i = 0; i < depth; ++i) acc += ((c_.lhs_u8 ? at[i] : static_cast<int8_t>(at[i])) - zero_point(b)) * weight(o, ky, kx, i);
      }
    return acc;
  }

  const MicroKernel& kernel_;
  const Case c_;
  std::mt19937 random_;
  ConvShape shape_;
  size_t out_h_, out_w_, outputs_, pixel_, row_, image_, zero_row_;
  Guarded lhs_, weights_, zeros_, payload_, dst_, residual_;
  std::vector<int32_t> bias_, raw_bias_, weight_sum_, lhs_zero_points_;
  std::vector<float> scales_, lhs_scales_;
  octet::ConvPlan plan_ = {};
};

const ConvMethod* const kMethods[] = {&octet::winograd_4x4_method, &octet::winograd_2x2_method, &octet::winograd_2x2_s2_method};

class WinogradTest : public EachKernel {
 protected:
  // Each method, in turn.
  template <typename Change>
  void each_method(Change change) {
    for (const ConvMethod* method : kMethods) {
      Case c;
      c.method = method;
      change(c);
      if (HasFatalFailure()) return;
    }
  }
  void check(const Case& c) { Runner(kernel(), c).check(); }
};

std::vector<const MicroKernel*> word_table() {
  const octet::KernelList list = octet::word_kernels();
  return {list.begin(), list.end()};
}
INSTANTIATE_TEST_SUITE_P(, WinogradTest, testing::ValuesIn(word_table()), kernel_name);

TEST_P(WinogradTest, OneTile) {
  each_method([&](Case c) { check(c); });
}

TEST_P(WinogradTest, SizesAroundTiles) {
  each_method([&](Case c) {
    for (c.in_h = 1; c.in_h <= 11; ++c.in_h)
      for (c.in_w = 1; c.in_w <= 11; ++c.in_w) {
        c.in_channels = 1 + (c.in_h * 7 + c.in_w) % 5;
        c.exit = c.in_h % 2 ? Exit::kS32 : Exit::kNarrow;
        check(c);
        if (HasFatalFailure()) return;
      }
  });
}

TEST_P(WinogradTest, Channels) {
  each_method([&](Case c) {
    for (const size_t in : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 96})
      for (const size_t out : {1, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 48, 65}) {
        c.in_channels = in;
        c.out_channels = out;
        c.in_h = 6 + in % 3;
        c.in_w = 7 + out % 3;
        c.exit = (in + out) % 3 ? Exit::kNarrow : Exit::kS32;
        c.dst_u8 = out % 2;
        c.gap = in % 4;
        check(c);
        if (HasFatalFailure()) return;
      }
  });
}

TEST_P(WinogradTest, Pads) {
  each_method([&](Case c) {
    for (size_t pads = 0; pads < 256; ++pads) {
      c.top = pads & 3, c.bottom = pads >> 2 & 3, c.left = pads >> 4 & 3, c.right = pads >> 6;
      c.in_h = 5, c.in_w = 6, c.in_channels = 3, c.out_channels = 5;
      c.lhs_u8 = pads % 3;
      c.zero_point = c.lhs_u8 ? 200 : -77;
      c.gap = pads % 5;
      check(c);
      if (HasFatalFailure()) return;
    }
  });
}

TEST_P(WinogradTest, TypesExitsAndZeroPoints) {
  each_method([&](Case c) {
    for (const bool lhs_u8 : {false, true})
      for (const bool rhs_u8 : {false, true})
        for (const bool runtime : {false, true})
          for (const Exit exit : {Exit::kS32, Exit::kNarrow, Exit::kFinish, Exit::kResidual})
            for (const int32_t zero_point : {0, 1, 120}) {
              c.batch = 3, c.in_h = 7, c.in_w = 5, c.in_channels = 19, c.out_channels = 37;
              c.lhs_u8 = lhs_u8, c.rhs_u8 = rhs_u8, c.runtime_zero_point = runtime, c.exit = exit, c.ohwi = !lhs_u8;
              c.zero_point = lhs_u8 ? zero_point : -zero_point;
              c.dst_u8 = rhs_u8;
              check(c);
              if (HasFatalFailure()) return;
            }
  });
}

TEST_P(WinogradTest, TasksAndBlocks) {
  each_method([&](Case c) {
    for (const size_t tasks : {1, 2, 3, 7})
      for (const size_t cache : {1, 100000, 1000000}) {
        c.batch = 3, c.in_h = 21, c.in_w = 18, c.in_channels = 12, c.out_channels = 70;
        c.tasks = tasks;
        c.cache = cache;
        c.exit = tasks % 2 ? Exit::kNarrow : Exit::kResidual;
        check(c);
        if (HasFatalFailure()) return;
      }
  });
}

TEST_P(WinogradTest, Groups) {
  each_method([&](Case c) {
    for (const size_t groups : {2, 3, 5}) {
      c.groups = groups, c.in_channels = groups * 7, c.out_channels = groups * 35, c.tasks = groups - 1;
      check(c);
      if (HasFatalFailure()) return;
    }
  });
}

// The last depth that one chunk can add up, and the first that two must. All inputs and weights extreme.
TEST_P(WinogradTest, EdgeOfTheCertificate) {
  Case c;
  c.in_h = c.in_w = 4, c.out_channels = 2;
  for (const size_t channels : {226, 227, 228, 229, 230, 231, 453, 454, 455, 456, 457, 458, 459, 460, 461, 684})
    for (const int input : {-128, 127})
      for (const int weight : {-128, -127, 127})
        for (const Exit exit : {Exit::kS32, Exit::kResidual, Exit::kNarrow}) {
          c.in_channels = channels, c.input = input, c.weight = weight, c.exit = exit;
          c.zero_point = 255 * (weight > 0);
          check(c);
          if (HasFatalFailure()) return;
        }
}

TEST_P(WinogradTest, EdgeOfTheCertificate2x2) {
  Case c;
  c.method = &octet::winograd_2x2_method;
  c.in_h = c.in_w = 2, c.out_channels = 1;
  for (const size_t channels : {3639, 3640, 3641, 3642, 3668, 3669, 3670})
    for (const int input : {-128, 127})
      for (const int weight : {-128, -127, 127}) {
        c.in_channels = channels, c.input = input, c.weight = weight;
        c.zero_point = 128;
        check(c);
        if (HasFatalFailure()) return;
      }
}

TEST_P(WinogradTest, LargeRandomDepths) {
  each_method([&](Case c) {
    for (const size_t channels : {511, 1024}) {
      c.in_h = 6, c.in_w = 5, c.in_channels = channels, c.out_channels = 33, c.weight = channels % 2 ? -1000 : -128, c.batch = 2;
      check(c);
      if (HasFatalFailure()) return;
    }
  });
}

TEST(Winograd, RefusesWhatItCannotCompute) {
  const ConvShape good = {1, 8, 8, 8, 8, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, false, 0, 0};
  const auto refused = [&](auto change) {
    ConvShape shape = good;
    change(shape);
    return octet::winograd_4x4_method.refuse(shape, false) != nullptr && octet::winograd_2x2_method.refuse(shape, false) != nullptr;
  };
  EXPECT_FALSE(refused([](ConvShape&) {}));
  EXPECT_TRUE(refused([](ConvShape& s) { s.kernel_h = 1; }));
  EXPECT_TRUE(refused([](ConvShape& s) { s.kernel_w = 5; }));
  EXPECT_TRUE(refused([](ConvShape& s) { s.stride_h = 2; }));
  EXPECT_TRUE(refused([](ConvShape& s) { s.dilation_w = 2; }));
  EXPECT_TRUE(refused([](ConvShape& s) { s.transposed = true; }));
  EXPECT_NE(octet::winograd_4x4_method.refuse(good, true), nullptr);
  EXPECT_NE(octet::winograd_2x2_s2_method.refuse(good, false), nullptr);
  ConvShape strided = good;
  strided.stride_h = strided.stride_w = 2;
  EXPECT_EQ(octet::winograd_2x2_s2_method.refuse(strided, false), nullptr);
}

TEST(Winograd, PayloadOfAHugeShapeIsRefused) {
  ConvShape shape = {1, 8, 8, SIZE_MAX / 64, 8, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, false, 0, 0};
  EXPECT_EQ(octet::winograd_4x4_method.payload_bytes(octet::word_layout_of(octet::Isa::kAvx2), shape), 0u);
}

}  // namespace
}  // namespace octet_test
