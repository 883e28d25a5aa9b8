// SPDX-License-Identifier: Apache-2.0
// Compares softmaxes and bilinear resizes of 16 bits with definitions, value by value: sizes that
// vectors and chunks of channels do not divide, gaps, batches, threads.
#include <gtest/gtest.h>

#include <random>

#include "functions/binary_definitions.h"
#include "functions/image_case.h"
#include "functions/image_definitions.h"
#include "support/vector_test.h"

namespace octet_test {
namespace {

// The value at x of TensorFlow Lite's table of a curve over 512 pieces of 128 numbers each, in
// 2^15ths.
template <typename Curve>
int64_t on_table(const Curve& curve, int64_t x) {
  const auto end = [&](int64_t i) -> int64_t {
    const double here = std::round(curve((double)i / 512) * 32768);
    if (i == 512) return std::min<int64_t>((int64_t)here, 32767);
    const double line = std::round((curve((double)(i + 1) / 512) * 32768 + here) / 2),
                 middle = std::round(curve(((double)i + 0.5) / 512) * 32768);
    return std::min<int64_t>((int64_t)(here - std::round((line - middle) / 2)), 32767);
  };
  const int64_t piece = (x + 32768) / 128, part = (x + 32768) % 128, first = end(piece);
  return first + (int64_t)std::floor((double)((end(piece + 1) - first) * part + 64) / 128);
}

std::vector<int64_t> softmax_of(const std::vector<int64_t>& pixel, float scale) {
  int32_t multiplier;
  int shift;
  quantize_multiplier((double)scale / (10.0 / 65535), &multiplier, &shift);
  const int64_t largest = *std::max_element(pixel.begin(), pixel.end());
  std::vector<int64_t> shares;
  int64_t sum = 0;
  for (const int64_t value : pixel) {
    const int64_t below = scale_twice(value - largest, multiplier, shift);
    shares.push_back(on_table([](double x) { return std::exp(10 * x - 10); },
                              std::max<int64_t>(below + 32767, -32768)));
    sum += shares.back();
  }
  int bits = 0;
  while (sum >> bits) ++bits;
  const int64_t scaled = ((sum << (31 - bits)) + (1 << 13)) >> 14;  // 16 bits behind the highest
  const int64_t factor = on_table([](double x) { return 1 / (1 + x); },
                                  std::min<int64_t>(scaled - 65536 - 32768, 32767));
  for (int64_t& share : shares)
    share = std::min<int64_t>((share * factor + (1 << (bits - 2))) >> (bits - 1), 32767);
  return shares;
}

class LinearS16Test : public testing::TestWithParam<octet_isa> {
 protected:
  void SetUp() override {
    if (!is_to_test(GetParam())) GTEST_SKIP() << "not on this machine, or tested by another run";
  }
  size_t draw(size_t least, size_t most) {
    return std::uniform_int_distribution<size_t>(least, most)(random_);
  }
  // Values of some bits; a few times only the two ends.
  Image draw_s16(const octet_image_size& size) {
    Image image(size, true, 2);
    const bool ends = draw(0, 3) == 0;
    const size_t reach = (size_t)1 << draw(1, 15);
    for_each(&image, [&](size_t, size_t, size_t) {
      return ends ? (draw(0, 1) ? 32767 : -32768)
                  : (int64_t)draw(0, 2 * reach - 1) - (int64_t)reach;
    });
    return image;
  }
  octet_image_input input_of(const octet_image_size& size, float scale) const {
    octet_image_input input = {};
    input.size = size, input.values = {OCTET_S16, scale, 0}, input.max_isa = GetParam();
    return input;
  }
  // Plain, with gaps, and a batch of two.
  void check(const Created& f, const std::vector<uint8_t>& in, const std::vector<uint8_t>& out) {
    ASSERT_NE(f.function, nullptr);
    ASSERT_EQ(run_guarded(f, in, 0, Side::kBack), out);
    ASSERT_EQ(run_guarded(f, in, 3, Side::kFront), out);
    std::vector<uint8_t> ins = in, outs = out;
    ins.insert(ins.end(), in.begin(), in.end());
    outs.insert(outs.end(), out.begin(), out.end());
    ASSERT_EQ(run_guarded(f, ins, draw(0, 1), Side::kBack, 2), outs);
  }

  std::mt19937 random_{31};
};

TEST_P(LinearS16Test, Softmax) {
  for (int i = 0; i < 24; ++i) {
    const octet_image_size size = {2, 3, i == 9 ? 600 : draw(1, 40)};
    const Image in = draw_s16(size);
    Image out(size, true, 2);
    octet_softmax_desc desc = OCTET_SOFTMAX_DESC_INIT;
    const float scale = i == 5 ? 0x1p-60f : i == 6 ? 9.99f : std::pow(2.0f, -(float)draw(0, 16));
    desc.input = input_of(size, scale), desc.beta = i % 3 ? 1 : 0.5f;
    if (i % 4) desc.input.values.scale *= (float)draw(1, 900) / 1000;
    if (i == 6) desc.beta = 0.5f, desc.input.values.scale = 9.99f;
    desc.output = {OCTET_S16, 0x1p-15f, 0}, desc.arithmetic = OCTET_ARITHMETIC_TFLITE;
    for (size_t p = 0; p < 6; ++p) {
      std::vector<int64_t> pixel;
      for (size_t c = 0; c < size.channels; ++c) pixel.push_back(in.at(0, p, c));
      const auto shares = softmax_of(pixel, desc.input.values.scale * desc.beta);
      for (size_t c = 0; c < size.channels; ++c) out.set(0, p, c, shares[c]);
    }
    octet_function* f = nullptr;
    const octet_status status = octet_softmax_create(&desc, &f, nullptr);
    check(created(status, f, size, size, 2, 2), in.bytes, out.bytes);
    if (HasFailure()) return;
  }
}

// As many channels as a sum of 31 bits holds, all of them the largest.
TEST_P(LinearS16Test, SoftmaxOfMostChannels) {
  Image in({1, 1, 65536}, true, 2), out(in.size, true, 2);
  octet_softmax_desc desc = OCTET_SOFTMAX_DESC_INIT;
  desc.input = input_of(in.size, 1), desc.beta = 1;
  desc.output = {OCTET_S16, 0x1p-15f, 0}, desc.arithmetic = OCTET_ARITHMETIC_TFLITE;
  const int64_t share = softmax_of(std::vector<int64_t>(65536, 0), 1)[0];
  for_each(&out, [&](size_t, size_t, size_t) { return share; });
  octet_function* f = nullptr;
  octet_status status = octet_softmax_create(&desc, &f, nullptr);
  const Created made = created(status, f, in.size, in.size, 2, 2);
  EXPECT_EQ(run_guarded(made, in.bytes, 0, Side::kBack), out.bytes);
  octet_error error = {};
  desc.input.size.channels = 65537;
  EXPECT_EQ(octet_softmax_create(&desc, &f, &error), OCTET_BAD_SIZE);
  EXPECT_NE(strstr(error.message, "at most 2^16"), nullptr) << error.message;
}

TEST_P(LinearS16Test, BilinearResize) {
  for (int i = 0; i < 30; ++i) {
    const octet_image_size size = {draw(1, 12), draw(1, 12), i % 5 ? draw(1, 40) : draw(250, 530)};
    const Image in = draw_s16(size);
    Image out({draw(1, 25), draw(1, 25), size.channels}, true, 2);
    octet_resize_desc desc = OCTET_RESIZE_DESC_INIT;
    desc.input = input_of(size, 1);
    desc.out_h = out.size.h, desc.out_w = out.size.w;
    desc.interpolation = OCTET_INTERPOLATION_BILINEAR;
    desc.coordinates = (octet_coordinates)(i % 3);
    desc.arithmetic = OCTET_ARITHMETIC_TFLITE;
    resize_as_tflite(in, desc.coordinates, &out);
    octet_function* f = nullptr;
    const octet_status status = octet_resize_create(&desc, &f, nullptr);
    check(created(status, f, in.size, out.size, 2, 2), in.bytes, out.bytes);
    if (HasFailure()) return;
  }
}

// Halves of either sign, and sums that are just beside them.
TEST_P(LinearS16Test, BilinearHalves) {
  for (const int value : {1, -1, 3, -3, 255, 257, -255, -257, 32767, -32767}) {
    Image in({1, 2, 3}, true, 2);
    for_each(&in, [&](size_t, size_t x, size_t c) { return x ? value + (int64_t)c - 1 : 0; });
    Image out({1, 2048, 3}, true, 2);
    octet_resize_desc desc = OCTET_RESIZE_DESC_INIT;
    desc.input = input_of(in.size, 1);
    desc.out_h = 1, desc.out_w = 2048;
    desc.interpolation = OCTET_INTERPOLATION_BILINEAR;
    desc.arithmetic = OCTET_ARITHMETIC_TFLITE;
    for_each(&out, [&](size_t, size_t x, size_t c) {
      return divide_away(in.at(0, 1, c) * (int64_t)std::min<size_t>(x, 1024), 1024);
    });
    octet_function* f = nullptr;
    const octet_status status = octet_resize_create(&desc, &f, nullptr);
    check(created(status, f, in.size, out.size, 2, 2), in.bytes, out.bytes);
  }
}

TEST_P(LinearS16Test, RefusesWhatTfliteHasNot) {
  octet_function* f = nullptr;
  octet_error error = {};
  const auto says = [&](octet_status status, octet_status wanted, const char* words) {
    EXPECT_EQ(status, wanted) << error.message;
    EXPECT_EQ(f, nullptr);
    EXPECT_NE(strstr(error.message, words), nullptr) << error.message;
  };
  octet_softmax_desc good = OCTET_SOFTMAX_DESC_INIT;
  good.input = input_of({1, 1, 4}, 1), good.beta = 1;
  good.output = {OCTET_S16, 0x1p-15f, 0}, good.arithmetic = OCTET_ARITHMETIC_TFLITE;
  octet_softmax_desc softmax = good;
  softmax.arithmetic = OCTET_ARITHMETIC_XNNPACK;
  says(octet_softmax_create(&softmax, &f, &error), OCTET_UNSUPPORTED, "TFLITE only");
  softmax = good, softmax.output = {OCTET_F32, 0, 0};
  says(octet_softmax_create(&softmax, &f, &error), OCTET_UNSUPPORTED, "gives OCTET_S16 only");
  softmax = good, softmax.output.type = OCTET_S8;
  says(octet_softmax_create(&softmax, &f, &error), OCTET_UNSUPPORTED, "desc.output.type");
  softmax = good, softmax.output.zero_point = 1;
  says(octet_softmax_create(&softmax, &f, &error), OCTET_BAD_ZERO_POINT, "desc.output");
  softmax = good, softmax.output.scale = 0x1p-14f;
  says(octet_softmax_create(&softmax, &f, &error), OCTET_BAD_SCALE, "2^-15");
  softmax = good, softmax.beta = 5;
  says(octet_softmax_create(&softmax, &f, &error), OCTET_BAD_SCALE, "less than 5");
  octet_resize_desc resize = OCTET_RESIZE_DESC_INIT;
  resize.input = good.input, resize.out_h = resize.out_w = 2;
  resize.interpolation = OCTET_INTERPOLATION_BILINEAR,
  resize.arithmetic = OCTET_ARITHMETIC_STANDARD;
  says(octet_resize_create(&resize, &f, &error), OCTET_UNSUPPORTED, "TFLITE only");
}

OCTET_FOR_EACH_TIER(LinearS16Test);

}  // namespace
}  // namespace octet_test
