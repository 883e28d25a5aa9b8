// Compares the bytes of functions over lines with plain formulas, value by value, and QLinearAdd
// with the bytes that ONNX Runtime made of all pairs. It is built twice, with this processor's
// vectors and without.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "bench/functions/max_pool.h"
#include "bench/functions/onnx_add.h"
#include "bench/functions/onnx_average.h"
#include "bench/functions/tflite_add.h"
#include "bench/functions/tflite_average.h"

namespace tool {
namespace {

int32_t value_of(uint8_t byte, octet_type type) { return type == OCTET_S8 ? (int8_t)byte : byte; }
int32_t least_of(octet_type type) { return type == OCTET_S8 ? -128 : 0; }

// An image with gaps between pixels and lines, or, with a ring, lines that begin anywhere.
class Image {
 public:
  Image(size_t h, size_t w, size_t channels, size_t gap = 0, bool ring = false) {
    image_.pixel = channels + gap, image_.line = w * image_.pixel + gap;
    image_.h = h, image_.w = w, image_.channels = channels;
    if (ring) image_.ring = h, image_.first = h - 1;
    bytes_.assign(h * image_.line, 0xa5);
    image_.data = bytes_.data();
  }
  void fill(std::mt19937* random) {
    for (uint8_t& byte : bytes_) byte = (uint8_t)(*random)();
  }
  uint8_t& at(size_t y, size_t x, size_t c) {
    return ((uint8_t*)octet_network_line(&image_, y))[x * image_.pixel + c];
  }
  size_t untouched() const {  // unchanged bytes between pixels and lines
    size_t count = 0;
    for (size_t i = 0; i < bytes_.size(); ++i) {
      const size_t x = i % image_.line;
      const bool gap = x >= image_.w * image_.pixel || x % image_.pixel >= image_.channels;
      count += gap && bytes_[i] == 0xa5;
    }
    return count;
  }
  const octet_network_image& get() const { return image_; }

 private:
  octet_network_image image_ = {};
  std::vector<uint8_t> bytes_;
};

// Calls run for all lines of `out`, and compares each byte with expected(y, x, c).
template <typename Run, typename Expected>
void check_bytes(std::vector<const Image*> inputs, Image* out, const Run& run,
                 const Expected& expected) {
  octet_network_call call = {};
  for (size_t i = 0; i < inputs.size(); ++i) call.inputs[i] = inputs[i]->get();
  call.output = out->get(), call.end = call.output.h;
  const size_t gaps = out->untouched();
  run(&call);
  EXPECT_EQ(out->untouched(), gaps);
  size_t wrong = 0;
  for (size_t y = 0; y < call.output.h; ++y)
    for (size_t x = 0; x < call.output.w; ++x)
      for (size_t c = 0; c < call.output.channels; ++c)
        wrong += out->at(y, x, c) != (uint8_t)expected(y, x, c);
  EXPECT_EQ(wrong, 0u);
}

// ---- additions

// All pairs of bytes: the first by line, the second by channel.
struct Pairs {
  explicit Pairs(size_t gap) : a(256, 1, 256, gap), b(256, 1, 256, gap), to(256, 1, 256, gap) {
    for (size_t y = 0; y < 256; ++y)
      for (size_t c = 0; c < 256; ++c) a.at(y, 0, c) = (uint8_t)y, b.at(y, 0, c) = (uint8_t)c;
  }
  // expected(value of a, value of b)
  template <typename Run, typename Expected>
  void check(octet_type type, const Run& run, const Expected& expected) {
    check_bytes({&a, &b}, &to, run, [&](size_t y, size_t, size_t c) {
      return expected(value_of((uint8_t)y, type), value_of((uint8_t)c, type));
    });
  }
  Image a, b, to;
};

// gemmlowp's, with the multiplier's shift to the right.
int32_t rescale(int32_t x, int32_t multiplier, int32_t shift) {
  const int64_t product = int64_t{x} * multiplier, nudge = product >= 0 ? 1 << 30 : 1 - (1 << 30);
  const int32_t high = (int32_t)((product + nudge) / (int64_t{1} << 31));
  const double exact = std::ldexp((double)high, shift);
  return (int32_t)std::round(exact);
}

TEST(TfliteAdd, AllPairs) {
  std::mt19937 random(1);
  const auto draw = [&](int32_t from, int32_t to) {
    return std::uniform_int_distribution<int32_t>(from, to)(random);
  };
  for (int i = 0; i < 24; ++i) {
    const octet_type type = i % 2 ? OCTET_S8 : OCTET_U8;
    const int32_t least = least_of(type), top = 2147483647;
    TfliteAdd f = {type, {}, {}, least + draw(0, 20), least + draw(200, 255)};
    for (int32_t& zero : f.zero_points) zero = least + draw(0, 255);
    f.add.product_multiplier = i == 3 ? 1 << 30 : i == 4 ? top : draw(1 << 30, top);
    f.add.residual_multiplier = i == 5 ? 0 : draw(1 << 30, top);
    f.add.dst_multiplier = draw(1 << 30, top);
    f.add.product_shift = i == 6 ? 0 : i == 7 ? -31 : -draw(1, 4);
    f.add.residual_shift = -draw(0, 6), f.add.dst_shift = i == 8 ? -31 : -draw(16, 20);
    Pairs(i % 3).check(
        type, [&](octet_network_call* call) { run_tflite_add(&f, call); },
        [&](int32_t a, int32_t b) {
          const octet_residual& r = f.add;
          const int32_t sum =
              rescale((a - f.zero_points[0]) * (1 << 20), r.product_multiplier, r.product_shift) +
              rescale((b - f.zero_points[1]) * (1 << 20), r.residual_multiplier, r.residual_shift);
          return std::clamp(rescale(sum, r.dst_multiplier, r.dst_shift) + f.zero_points[2], f.least,
                            f.most);
        });
  }
}

// FNV-1a of the 65,536 bytes that QLinearAdd of ONNX Runtime 1.32.0 made on x86 with AVX2, in the
// order of the first input's bytes; zero points of s8 are 128 smaller.
// tests/network/run_onnx_functions.py compares with the package.
struct Recorded {
  float scales[3];
  int32_t zero_points[3];
  uint64_t u8, s8;
};
constexpr Recorded kRecorded[] = {
    {{0.03125f, 0.015625f, 0.03125f}, {128, 131, 90}, 0x3a39680a9005ee8d, 0x50945a3a9364528d},
    {{0.03125f, 0.015625f, 0.03125f}, {128, 131, 91}, 0xb2808be1b0a65ad3, 0x4644b69e60e98dd3},
    {{0.02f, 0.02f, 0.04f}, {127, 3, 157}, 0xf44b765c8ee5e02d, 0xd1de3f84bb5a072d},
    {{0.0123f, 0.0457f, 0.031f}, {0, 255, 17}, 0x7ff0d93dac7a4684, 0x3f2e9e3a490a74f7},
    {{0.0911f, 0.0037f, 0.0613f}, {77, 66, 101}, 0x8c3d5c5fd8853c36, 0x366b6aeece87e336},
    {{0.0311f, 0.0287f, 0.0419f}, {5, 250, 222}, 0xc8f50be7a21e91fd, 0x36626c1cf382befd},
};

OnnxAdd onnx_add(const Recorded& r, octet_type type) {
  const int32_t least = least_of(type);
  OnnxAdd f = {type, {}, {}, least, least + 255, false};
  for (size_t i = 0; i < 3; ++i)
    f.scales[i] = r.scales[i], f.zero_points[i] = r.zero_points[i] + least;
  return f;
}

TEST(QLinearAdd, OnnxRuntimesBytes) {
  for (const Recorded& r : kRecorded)
    for (const octet_type type : {OCTET_U8, OCTET_S8}) {
      OnnxAdd f = onnx_add(r, type);
      Pairs pairs(0);
      octet_network_call call = {};
      // Both inputs have their values in ascending order
      const uint8_t flip = type == OCTET_S8 ? 0x80 : 0;
      for (size_t y = 0; y < 256; ++y)
        for (size_t c = 0; c < 256; ++c) pairs.a.at(y, 0, c) ^= flip, pairs.b.at(y, 0, c) ^= flip;
      call.inputs[0] = pairs.a.get(), call.inputs[1] = pairs.b.get();
      call.output = pairs.to.get(), call.end = 256;
      run_qlinear_add(&f, &call);
      uint64_t hash = 0xcbf29ce484222325;
      for (size_t y = 0; y < 256; ++y)
        for (size_t c = 0; c < 256; ++c) hash = (hash ^ pairs.to.at(y, 0, c)) * 0x100000001b3;
      EXPECT_EQ(hash, type == OCTET_S8 ? r.s8 : r.u8);
    }
}

TEST(QLinearAdd, AllPairs) {
  for (const Recorded& r : kRecorded)
    for (const bool as_unsigned : {false, true})
      for (const octet_type type : {OCTET_U8, OCTET_S8}) {
        OnnxAdd f = onnx_add(r, type);
        f.as_unsigned = as_unsigned;
        const int32_t shift = as_unsigned && type == OCTET_S8 ? 128 : 0;
        const auto real = [&](int32_t x) { return (float)(x + shift); };
        const float ra = f.scales[0] / f.scales[2], rb = f.scales[1] / f.scales[2];
        const float product = rb * real(f.zero_points[1]);
        const float fixed = real(f.zero_points[2]) - std::fma(ra, real(f.zero_points[0]), product);
        Pairs(3).check(
            type, [&](octet_network_call* call) { run_qlinear_add(&f, call); },
            [&](int32_t a, int32_t b) {
              const float sum = std::fma(real(a), ra, std::fma(real(b), rb, fixed));
              return std::clamp((int32_t)std::nearbyint(sum) - shift, f.least, f.most);
            });
      }
}

TEST(FloatAdd, AllPairs) {
  for (const Recorded& r : kRecorded)
    for (const octet_type type : {OCTET_U8, OCTET_S8}) {
      OnnxAdd f = onnx_add(r, type);
      f.least += 17;
      Pairs(1).check(
          type, [&](octet_network_call* call) { run_float_add(&f, call); },
          [&](int32_t a, int32_t b) {
            const float first = (float)(a - f.zero_points[0]) * f.scales[0];
            const float second = (float)(b - f.zero_points[1]) * f.scales[1];
            const float sum = first + second, steps = sum / f.scales[2];
            return std::clamp((int32_t)std::nearbyint(steps) + f.zero_points[2], f.least, f.most);
          });
    }
}

// ---- poolings

struct Pooling {
  size_t h, w, out_h, out_w;
  Window window;
};
constexpr Pooling kPoolings[] = {{9, 8, 4, 4, {2, 2, 2, 2, 0, 0}},
                                 {9, 8, 9, 4, {3, 3, 1, 2, 1, 1}},
                                 {6, 5, 7, 6, {5, 4, 1, 1, 3, 2}},
                                 {7, 6, 7, 6, {1, 1, 1, 1, 0, 0}},
                                 {7, 7, 1, 1, {7, 7, 1, 1, 0, 0}}};

// Calls test(type, pooling, image, output) for images of few channels and of many, with gaps and as
// rings, and values(y, x, c), the values of a window, line by line.
template <typename Test>
void for_each_pooling(const Test& test) {
  std::mt19937 random(2);
  for (const Pooling& p : kPoolings)
    for (const octet_type type : {OCTET_U8, OCTET_S8})
      for (const size_t channels : {1, 3, 16, 37, 300}) {
        Image in(p.h, p.w, channels, channels % 4, channels == 37);
        Image out(p.out_h, p.out_w, channels, channels % 5);
        in.fill(&random);
        const auto values = [&](size_t y, size_t x, size_t c) {
          std::vector<int32_t> found;
          const Window& w = p.window;
          for (size_t ky = 0; ky < w.kernel_h; ++ky)
            for (size_t kx = 0; kx < w.kernel_w; ++kx) {
              const size_t iy = y * w.stride_h + ky - w.pad_top;
              const size_t ix = x * w.stride_w + kx - w.pad_left;
              if (iy < p.h && ix < p.w) found.push_back(value_of(in.at(iy, ix, c), type));
            }
          return found;
        };
        test(type, p, in, &out, values);
      }
}

TEST(MaxPool, Windows) {
  for_each_pooling(
      [](octet_type type, const Pooling& p, const Image& in, Image* out, const auto& values) {
        MaxPool f = {type, least_of(type) + 30, least_of(type) + 240, p.window};
        check_bytes(
            {&in}, out, [&](octet_network_call* call) { run_max_pool(&f, call); },
            [&](size_t y, size_t x, size_t c) {
              const std::vector<int32_t> all = values(y, x, c);
              return std::clamp(*std::max_element(all.begin(), all.end()), f.least, f.most);
            });
      });
}

TEST(TfliteAverage, Windows) {
  for_each_pooling(
      [](octet_type type, const Pooling& p, const Image& in, Image* out, const auto& values) {
        TfliteAverage f = {type, least_of(type) + 100, least_of(type) + 160, p.window};
        check_bytes(
            {&in}, out, [&](octet_network_call* call) { run_tflite_average(&f, call); },
            [&](size_t y, size_t x, size_t c) {
              int32_t sum = 0, count = 0;
              for (const int32_t value : values(y, x, c)) sum += value, ++count;
              const int32_t average = (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
              return std::clamp(average, f.least, f.most);
            });
      });
}

TEST(QLinearAverage, Windows) {
  for_each_pooling(
      [](octet_type type, const Pooling& p, const Image& in, Image* out, const auto& values) {
        const int32_t least = least_of(type);
        OnnxAverage f = {type,       {0.0140036f, 0.0117f}, {least + 141, least + 99},
                         least + 10, least + 255,           true,
                         p.window};
        const int32_t shift = type == OCTET_S8 ? 128 : 0;
        check_bytes(
            {&in}, out, [&](octet_network_call* call) { run_qlinear_average(&f, call); },
            [&](size_t y, size_t x, size_t c) {
              float sum = 0, count = 0;
              for (const int32_t value : values(y, x, c)) {
                const float real = (float)(value - f.zero_points[0]) * f.scales[0];
                sum += real, count += 1;
              }
              const float average = sum / count, steps = average / f.scales[1];
              const float sum_of_zero = steps + (float)(f.zero_points[1] + shift);
              return std::clamp((int32_t)std::nearbyint(sum_of_zero) - shift, f.least, f.most);
            });
      });
}

TEST(QLinearGlobalAverage, Images) {
  for_each_pooling(
      [](octet_type type, const Pooling& p, const Image& in, Image* out, const auto& values) {
        if (p.out_h * p.out_w != 1) return;
        const int32_t least = least_of(type);
        OnnxAverage f = {type,       {0.0140036f, 0.0117f}, {least + 141, least + 99},
                         least + 10, least + 255,           false,
                         p.window};
        check_bytes(
            {&in}, out, [&](octet_network_call* call) { run_qlinear_global_average(&f, call); },
            [&](size_t y, size_t x, size_t c) {
              int32_t sum = 0;
              for (const int32_t value : values(y, x, c)) sum += value - f.zero_points[0];
              const float pixels = (float)(p.h * p.w), below = f.scales[1] * pixels;
              const float factor = f.scales[0] / below, steps = (float)sum * factor;
              return std::clamp((int32_t)std::nearbyint(steps) + f.zero_points[1], f.least, f.most);
            });
      });
}

}  // namespace
}  // namespace tool
