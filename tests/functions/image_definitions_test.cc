// SPDX-License-Identifier: Apache-2.0
// Compares functions of images with definitions, value by value: sizes that vectors, chunks of
// channels, groups of pixels and tiles do not divide, batches, threads.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "functions/binary_definitions.h"
#include "functions/image_case.h"
#include "functions/image_definitions.h"
#include "support/vector_test.h"

namespace octet_test {
namespace {

// Runs each task on a thread of its own.
void on_threads(void*, size_t count, void (*fn)(void*, size_t), void* arg) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) threads.emplace_back(fn, arg, i);
  for (std::thread& thread : threads) thread.join();
}

class ImageDefinitionsTest : public testing::TestWithParam<octet_isa> {
 protected:
  void SetUp() override {
    if (!is_to_test(GetParam())) GTEST_SKIP() << "not on this machine, or tested by another run";
  }
  size_t draw(size_t least, size_t most) {
    return std::uniform_int_distribution<size_t>(least, most)(random_);
  }
  Image draw_image(const octet_image_size& size, bool is_signed, size_t element = 1) {
    Image image(size, is_signed, element);
    const bool extremes = draw(0, 3) == 0;
    for (uint8_t& byte : image.bytes)
      byte = extremes ? (draw(0, 1) ? 0x7f : 0x80) : (uint8_t)random_();
    return image;
  }
  octet_image_input input_of(const Image& in, const octet_quantized& values) const {
    octet_image_input input = {};
    input.size = in.size, input.values = values, input.max_isa = GetParam();
    return input;
  }
  octet_quantized draw_quantized(bool is_signed) {
    return {is_signed ? OCTET_S8 : OCTET_U8, (float)draw(1, 1000) / 777,
            (int32_t)draw(0, 255) - (is_signed ? 128 : 0)};
  }
  octet_window draw_window(const octet_image_size& in) {
    octet_window w = {};
    w.kernel_h = draw(1, in.h), w.kernel_w = draw(1, in.w);
    w.stride_h = draw(1, 3), w.stride_w = draw(1, 3);
    w.pad_top = draw(0, w.kernel_h - 1), w.pad_left = draw(0, w.kernel_w - 1);
    w.pad_bottom = draw(0, w.kernel_h - 1), w.pad_right = draw(0, w.kernel_w - 1);
    return w;
  }
  static octet_image_size windows_of(const octet_image_size& in, const octet_window& w) {
    return {(in.h + w.pad_top + w.pad_bottom - w.kernel_h) / w.stride_h + 1,
            (in.w + w.pad_left + w.pad_right - w.kernel_w) / w.stride_w + 1, in.channels};
  }
  // Few pixels where channels are many: definitions of windows take the square of an image's size.
  octet_image_size draw_size() {
    const bool few = draw(0, 3);
    const size_t channels = few ? draw(1, 70) : draw(250, 530), side = few ? 20 : 9;
    return {draw(1, side), draw(1, side), channels};
  }
  // Plain, with gaps, and a batch of three on threads.
  void check(const Created& f, const std::vector<uint8_t>& in, const std::vector<uint8_t>& out) {
    ASSERT_NE(f.function, nullptr);
    ASSERT_EQ(run_guarded(f, in, 0, Side::kBack), out);
    ASSERT_EQ(run_guarded(f, in, 3, Side::kFront), out);
    std::vector<uint8_t> ins, outs;
    for (int i = 0; i < 3; ++i) {
      ins.insert(ins.end(), in.begin(), in.end());
      outs.insert(outs.end(), out.begin(), out.end());
    }
    ASSERT_EQ(run_guarded(f, ins, draw(0, 1), Side::kBack, 3, on_threads, draw(1, 5)), outs);
  }

  std::mt19937 random_{28};
};

TEST_P(ImageDefinitionsTest, Pools) {
  for (int i = 0; i < 80; ++i) {
    const bool is_signed = i % 2;
    const size_t e = i < 60 ? 1 : 2;
    const Image in = draw_image(draw_size(), is_signed, e);
    const octet_window w = draw_window(in.size);
    const octet_image_size size = windows_of(in.size, w);
    Image out(size, is_signed, e);
    octet_function* f = nullptr;
    octet_max_pool_desc max = OCTET_MAX_POOL_DESC_INIT;
    max.input = input_of(in, draw_quantized(is_signed)), max.window = w;
    if (e == 2) max.input.values = {OCTET_S16, 0.1f, 0}, max.least = -20000, max.most = i * 400;
    for_each(&out, [&](size_t y, size_t x, size_t c) {
      const std::vector<int64_t> values = window_at(in, w, y, x, c);
      const int64_t largest = *std::max_element(values.begin(), values.end());
      return e == 2 ? std::clamp<int64_t>(largest, max.least, max.most) : largest;
    });
    octet_status status = octet_max_pool_create(&max, &f, nullptr);
    check(created(status, f, in.size, size, e, e), in.bytes, out.bytes);

    octet_average_pool_desc average = OCTET_AVERAGE_POOL_DESC_INIT;
    average.input = max.input, average.window = w;
    average.arithmetic = e == 2 ? OCTET_ARITHMETIC_TFLITE : (octet_arithmetic)(i / 2 % 4);
    const bool real = average.arithmetic == OCTET_ARITHMETIC_STANDARD ||
                      average.arithmetic == OCTET_ARITHMETIC_ONNXRUNTIME;
    average.output = real ? draw_quantized(is_signed) : average.input.values;
    average.count_include_pad = real && draw(0, 1);
    const int64_t zero = average.output.zero_point;
    for_each(&out, [&](size_t y, size_t x, size_t c) {
      const std::vector<int64_t> values = window_at(in, w, y, x, c);
      if (!real) {
        int64_t sum = 0;
        for (const int64_t v : values) sum += v;
        return divide_away(sum, (int64_t)values.size());
      }
      const size_t count = average.count_include_pad ? w.kernel_h * w.kernel_w : values.size();
      const float mean = average_of(values, count, average.input.values, average.output.scale);
      return average.arithmetic == OCTET_ARITHMETIC_STANDARD
                 ? (int64_t)std::nearbyint(mean) + zero
                 : (int64_t)std::nearbyint(mean + (float)zero);
    });
    status = octet_average_pool_create(&average, &f, nullptr);
    check(created(status, f, in.size, size, e, e), in.bytes, out.bytes);
    if (HasFailure()) return;
  }
}

// Counts beyond those that sums of 16 bits and quotients of floats are exact for.
TEST_P(ImageDefinitionsTest, LargeAverages) {
  for (const size_t w : {16u, 181u, 182u, 400u}) {
    Image in({w, w, 3}, w == 182);
    for (uint8_t& byte : in.bytes) byte = w == 400 ? 0xff : (uint8_t)(random_() % 8 ? 0x7f : 0x81);
    octet_average_pool_desc desc = OCTET_AVERAGE_POOL_DESC_INIT;
    desc.input = input_of(in, {in.is_signed ? OCTET_S8 : OCTET_U8, 1, 0});
    desc.output = desc.input.values, desc.arithmetic = OCTET_ARITHMETIC_TFLITE;
    desc.window = {w, w, 1, 1, 0, 0, 0, 0};
    Image out({1, 1, 3}, in.is_signed);
    for_each(&out, [&](size_t, size_t, size_t c) {
      int64_t sum = 0;
      for (const int64_t v : window_at(in, desc.window, 0, 0, c)) sum += v;
      return divide_away(sum, (int64_t)(w * w));
    });
    octet_function* f = nullptr;
    const octet_status status = octet_average_pool_create(&desc, &f, nullptr);
    check(created(status, f, in.size, out.size), in.bytes, out.bytes);
  }
}

// Up to the largest count, with sums at both ends of 32 bits; means by their definition, too.
TEST_P(ImageDefinitionsTest, LargeAveragesOfS16) {
  for (const size_t w : {3u, 16u, 181u})
    for (const int value : {-32768, 32767, 0}) {
      Image in({w, w, 3}, true, 2);
      for_each(&in, [&](size_t, size_t, size_t) {
        return value ? value : (int64_t)draw(0, 65535) - 32768;
      });
      const auto sum_of = [&](size_t c) {
        int64_t sum = 0;
        for (const int64_t v : window_at(in, {w, w, 1, 1, 0, 0, 0, 0}, 0, 0, c)) sum += v;
        return sum;
      };
      octet_average_pool_desc desc = OCTET_AVERAGE_POOL_DESC_INIT;
      desc.input = input_of(in, {OCTET_S16, 1, 0});
      desc.output = desc.input.values, desc.arithmetic = OCTET_ARITHMETIC_TFLITE;
      desc.window = {w, w, 1, 1, 0, 0, 0, 0};
      Image out({1, 1, 3}, true, 2);
      for_each(&out,
               [&](size_t, size_t, size_t c) { return divide_away(sum_of(c), (int64_t)(w * w)); });
      octet_function* f = nullptr;
      octet_status status = octet_average_pool_create(&desc, &f, nullptr);
      check(created(status, f, in.size, out.size, 2, 2), in.bytes, out.bytes);

      // The multiplier of the scales' ratio with as many bits as the count leaves, over the count.
      for (const float scale : {0.0371f, 1.0f, 0x1.fffffep13f}) {
        octet_mean_desc mean = OCTET_MEAN_DESC_INIT;
        mean.input = input_of(in, {OCTET_S16, scale, 0}), mean.output = {OCTET_S16, 1, 0};
        mean.arithmetic = OCTET_ARITHMETIC_TFLITE;
        int32_t multiplier;
        int shift;
        quantize_multiplier((double)scale, &multiplier, &shift);
        const int bits = (int)std::floor(std::log2(w * w));
        multiplier = (int32_t)(((int64_t)multiplier << bits) / (int64_t)(w * w));
        for_each(&out, [&](size_t, size_t, size_t c) {
          return scale_twice(sum_of(c), multiplier, shift - bits);
        });
        status = octet_mean_create(&mean, &f, nullptr);
        check(created(status, f, in.size, out.size, 2, 2), in.bytes, out.bytes);
      }
    }
}

TEST_P(ImageDefinitionsTest, RefusesBadS16) {
  Image in({182, 181, 1}, true, 2);
  octet_function* f = nullptr;
  octet_error error = {};
  const auto says = [&](octet_status status, octet_status wanted, const char* words) {
    EXPECT_EQ(status, wanted) << error.message;
    EXPECT_EQ(f, nullptr);
    EXPECT_NE(strstr(error.message, words), nullptr) << error.message;
  };
  octet_average_pool_desc average = OCTET_AVERAGE_POOL_DESC_INIT;
  average.input = input_of(in, {OCTET_S16, 1, 0}), average.output = {OCTET_S16, 1, 0};
  average.arithmetic = OCTET_ARITHMETIC_TFLITE, average.window = {182, 181, 1, 1, 0, 0, 0, 0};
  says(octet_average_pool_create(&average, &f, &error), OCTET_BAD_SIZE, "at most 2^15");
  average.window.kernel_h = 2, average.arithmetic = OCTET_ARITHMETIC_STANDARD;
  says(octet_average_pool_create(&average, &f, &error), OCTET_UNSUPPORTED, "TFLITE only");
  average.arithmetic = OCTET_ARITHMETIC_TFLITE, average.output.zero_point = 1;
  says(octet_average_pool_create(&average, &f, &error), OCTET_BAD_ZERO_POINT, "desc.output");
  octet_mean_desc mean = OCTET_MEAN_DESC_INIT;
  mean.input = average.input, mean.output = {OCTET_S16, 1, 0};
  mean.arithmetic = OCTET_ARITHMETIC_TFLITE;
  says(octet_mean_create(&mean, &f, &error), OCTET_BAD_SIZE, "at most 2^15");
  mean.input.size.h = 1, mean.arithmetic = OCTET_ARITHMETIC_XNNPACK;
  says(octet_mean_create(&mean, &f, &error), OCTET_UNSUPPORTED, "TFLITE only");
  mean.arithmetic = OCTET_ARITHMETIC_TFLITE, mean.input.values.scale = 0x1p14f;
  says(octet_mean_create(&mean, &f, &error), OCTET_BAD_SCALE, "2^14");
  octet_pad_desc pad = OCTET_PAD_DESC_INIT;
  pad.input = average.input, pad.value = 32768;
  says(octet_pad_create(&pad, &f, &error), OCTET_BAD_ZERO_POINT, "desc.value");
}

// The largest ratio of scales and the largest differences from the zero point.
TEST_P(ImageDefinitionsTest, MeansOfLargeScales) {
  for (const size_t w : {1u, 3u, 64u, 100u})
    for (const int value : {-128, 127}) {
      Image in({w, w, 3}, true);
      for (uint8_t& byte : in.bytes) byte = (uint8_t)value;
      octet_mean_desc desc = OCTET_MEAN_DESC_INIT;
      desc.input = input_of(in, {OCTET_S8, 0x1.fffffep21f, -1 - value});
      desc.output = {OCTET_S8, 1, 0}, desc.arithmetic = OCTET_ARITHMETIC_TFLITE;
      octet_function* f = nullptr;
      const octet_status status = octet_mean_create(&desc, &f, nullptr);
      check(created(status, f, in.size, {1, 1, 3}), in.bytes,
            std::vector<uint8_t>(3, (uint8_t)value));
    }
}

TEST_P(ImageDefinitionsTest, BilinearResizeOfTflite) {
  for (int i = 0; i < 33; ++i) {
    octet_image_size size = draw_size();
    size_t out_h = draw(1, 30);
    // The steps of these sizes round up, so that the last lines come from behind the image
    if (i >= 30) size.h = 16, size.w = 2, size.channels = 1, out_h = 32767;
    const Image in = draw_image(size, true);
    Image out({out_h, draw(1, 30), size.channels}, true);
    octet_resize_desc desc = OCTET_RESIZE_DESC_INIT;
    desc.input = input_of(in, {OCTET_S8, 1, 0});
    desc.out_h = out.size.h, desc.out_w = out.size.w;
    desc.interpolation = OCTET_INTERPOLATION_BILINEAR;
    desc.coordinates = (octet_coordinates)(i % 3);
    desc.arithmetic = OCTET_ARITHMETIC_TFLITE;
    resize_as_tflite(in, desc.coordinates, &out);
    octet_function* f = nullptr;
    const octet_status status = octet_resize_create(&desc, &f, nullptr);
    check(created(status, f, in.size, out.size), in.bytes, out.bytes);
    if (HasFailure()) return;
  }
}

// Whole factors, whose results are often halves, and others; results near a step between two bytes
// take another way, as all of equal or of two neighbouring values may.
TEST_P(ImageDefinitionsTest, BilinearResizeNearSteps) {
  const size_t factors[] = {2, 3, 4, 6, 8, 12, 0};
  for (int i = 0; i < 63; ++i) {
    const bool in_floats = i % 3 == 0;
    const bool is_signed = i % 3 == 1 || (i % 3 == 2 && draw(0, 1));
    const size_t factor = factors[i / 3 % 7], channels = draw(0, 3) ? draw(1, 40) : draw(60, 330);
    Image in = draw_image({draw(1, 9), draw(1, 9), channels}, is_signed);
    if (i % 4 == 0) {
      const auto least = (uint8_t)random_();
      for (uint8_t& byte : in.bytes) byte = (uint8_t)(least + draw(0, 1));
    }
    Image out({factor ? in.size.h * factor : draw(1, 40), factor ? in.size.w * factor : draw(1, 90),
               channels},
              is_signed);
    octet_resize_desc desc = OCTET_RESIZE_DESC_INIT;
    desc.input = input_of(in, {in.type(), 1, 0});
    desc.coordinates = (octet_coordinates)(i / 21 % 3);
    if (factor && desc.coordinates == OCTET_COORDINATES_ALIGN_CORNERS && draw(0, 1))
      out =
          Image({(in.size.h - 1) * factor + 1, (in.size.w - 1) * factor + 1, channels}, is_signed);
    desc.out_h = out.size.h, desc.out_w = out.size.w;
    desc.interpolation = OCTET_INTERPOLATION_BILINEAR;
    desc.arithmetic = i % 3 == 2 ? OCTET_ARITHMETIC_XNNPACK : OCTET_ARITHMETIC_TFLITE;
    if (i % 3 == 2)
      resize_as_xnnpack(in, desc.coordinates, &out);
    else if (in_floats)
      resize_as_tflite_in_floats(in, desc.coordinates, &out);
    else
      resize_as_tflite(in, desc.coordinates, &out);
    octet_function* f = nullptr;
    const octet_status status = octet_resize_create(&desc, &f, nullptr);
    check(created(status, f, in.size, out.size), in.bytes, out.bytes);
    if (HasFailure()) return;
  }
}

TEST_P(ImageDefinitionsTest, SoftmaxToFloats) {
  for (int i = 0; i < 12; ++i) {
    const octet_image_size size = {2, 3, draw(1, 300)};
    const Image in = draw_image(size, i % 2);
    octet_softmax_desc desc = OCTET_SOFTMAX_DESC_INIT;
    desc.input = input_of(in, draw_quantized(i % 2));
    desc.beta = 1, desc.output.type = OCTET_F32;
    std::vector<uint8_t> out;
    for (size_t p = 0; p < size.h * size.w; ++p) {
      int64_t largest = -128;
      for (size_t c = 0; c < size.channels; ++c) largest = std::max(largest, in.at(0, p, c));
      std::vector<float> e;
      float sum = 0;
      for (size_t c = 0; c < size.channels; ++c) {
        const float x = -desc.input.values.scale * (float)(largest - in.at(0, p, c));
        e.push_back((float)std::exp((double)x));
        sum += e.back();
      }
      for (const float one : e) {
        const float share = one / sum;
        out.insert(out.end(), (const uint8_t*)&share, (const uint8_t*)&share + sizeof share);
      }
    }
    octet_function* f = nullptr;
    const octet_status status = octet_softmax_create(&desc, &f, nullptr);
    check(created(status, f, size, size, 1, sizeof(float)), in.bytes, out);
    if (HasFailure()) return;
  }
}

// Channels above and below the number of all distances, scales of all sizes, whole and half shares.
TEST_P(ImageDefinitionsTest, SoftmaxToBytes) {
  for (int i = 0; i < 120; ++i) {
    const octet_image_size size = {2, 3, i % 10 ? draw(1, 40) : draw(250, 300)};
    Image in = draw_image(size, i % 2), out(size, i % 2);
    if (i % 3 == 0) std::fill(in.bytes.begin(), in.bytes.end(), (uint8_t)i);
    octet_softmax_desc desc = OCTET_SOFTMAX_DESC_INIT;
    desc.input = input_of(in, draw_quantized(i % 2));
    if (i % 7) desc.input.values.scale /= 20;
    desc.beta = 1, desc.output = desc.input.values;
    desc.output.scale = i % 4 ? 1 / (float)draw(1, 300) : 1 / (float)draw(1, 1000000);
    desc.output.zero_point = (int32_t)draw(0, 255) - (i % 2 ? 128 : 0);
    desc.arithmetic = i / 2 % 2 ? OCTET_ARITHMETIC_ONNXRUNTIME : OCTET_ARITHMETIC_STANDARD;
    for_each(&out, [&](size_t y, size_t x, size_t c) {
      std::vector<int64_t> pixel;
      for (size_t k = 0; k < size.channels; ++k) pixel.push_back(in.at(y, x, k));
      return softmax_steps(pixel, c, desc) + desc.output.zero_point;
    });
    octet_function* f = nullptr;
    const octet_status status = octet_softmax_create(&desc, &f, nullptr);
    check(created(status, f, size, size), in.bytes, out.bytes);
    if (HasFailure()) return;
  }
}

// Shares beyond int32 and infinite ones are the largest byte; those of 0 are the zero point.
TEST_P(ImageDefinitionsTest, SoftmaxToSmallScales) {
  for (const float scale : {0x1p-20f, 0x1p-31f, 0x1p-40f, 0x1p-126f, 0x1p-149f})
    for (int i = 0; i < 8; ++i) {
      const int32_t zero = i < 4 ? -128 : 5;
      Image in({1, 1, 2}, true);
      in.bytes = {0x7f, 0x80};
      octet_softmax_desc desc = OCTET_SOFTMAX_DESC_INIT;
      desc.input = input_of(in, {OCTET_S8, 16, 0});
      desc.beta = 1, desc.output = {OCTET_S8, scale, zero};
      desc.arithmetic = (octet_arithmetic)(i % 4);
      octet_function* f = nullptr;
      const octet_status status = octet_softmax_create(&desc, &f, nullptr);
      check(created(status, f, in.size, in.size), in.bytes, {0x7f, (uint8_t)zero});
    }
}

TEST_P(ImageDefinitionsTest, Copies) {
  for (int i = 0; i < 75; ++i) {
    const size_t e = i >= 60 ? 2 : i % 2 ? 1 : 4;
    const octet_quantized values = {e == 1 ? OCTET_U8 : e == 2 ? OCTET_S16 : OCTET_F32, 0, 0};
    octet_image_size size = draw_size();
    size.channels = std::min<size_t>(size.channels, 70);
    if (i % 5 == 0) size.channels = 3;
    Image in({size.h, size.w, size.channels * e}, false);
    for (uint8_t& byte : in.bytes) byte = (uint8_t)random_();
    octet_image_input input = input_of(in, values);
    input.size = size;
    const auto element_at = [&](size_t y, size_t x, size_t c) {
      return in.bytes.begin() + (ptrdiff_t)(((y * size.w + x) * size.channels + c) * e);
    };
    std::vector<uint8_t> out;
    octet_function* f = nullptr;

    octet_slice_desc slice = OCTET_SLICE_DESC_INIT;
    slice.input = input;
    slice.first = {draw(0, size.h - 1), draw(0, size.w - 1), draw(0, size.channels - 1)};
    slice.size = {draw(1, size.h - slice.first.h), draw(1, size.w - slice.first.w),
                  draw(1, size.channels - slice.first.channels)};
    for (size_t y = 0; y < slice.size.h; ++y)
      for (size_t x = 0; x < slice.size.w; ++x) {
        const auto from = element_at(y + slice.first.h, x + slice.first.w, slice.first.channels);
        out.insert(out.end(), from, from + (ptrdiff_t)(slice.size.channels * e));
      }
    octet_status status = octet_slice_create(&slice, &f, nullptr);
    check(created(status, f, size, slice.size, e, e), in.bytes, out);

    octet_pad_desc pad = OCTET_PAD_DESC_INIT;
    pad.input = input, pad.value = e == 1 ? 0xa7 : e == 2 ? -0x1234 : 0x12345678;
    pad.before = {draw(0, 3), draw(0, 3), draw(0, 2)};
    pad.after = {draw(0, 3), draw(0, 3), draw(0, 2)};
    const octet_image_size padded = {pad.before.h + size.h + pad.after.h,
                                     pad.before.w + size.w + pad.after.w,
                                     pad.before.channels + size.channels + pad.after.channels};
    out.clear();
    for (size_t y = 0; y < padded.h; ++y)
      for (size_t x = 0; x < padded.w; ++x)
        for (size_t c = 0; c < padded.channels; ++c) {
          const size_t iy = y - pad.before.h, ix = x - pad.before.w, ic = c - pad.before.channels;
          const bool inside = iy < size.h && ix < size.w && ic < size.channels;
          for (size_t b = 0; b < e; ++b)
            out.push_back(inside ? element_at(iy, ix, ic)[(ptrdiff_t)b]
                                 : ((const uint8_t*)&pad.value)[b]);
        }
    status = octet_pad_create(&pad, &f, nullptr);
    check(created(status, f, size, padded, e, e), in.bytes, out);

    octet_reshape_desc reshape = OCTET_RESHAPE_DESC_INIT;
    reshape.input = input, reshape.size = {size.channels, size.h, size.w};
    status = octet_reshape_create(&reshape, &f, nullptr);
    check(created(status, f, size, reshape.size, e, e), in.bytes, in.bytes);

    octet_transpose_desc transpose = OCTET_TRANSPOSE_DESC_INIT;
    transpose.input = input, transpose.to = OCTET_NCHW;
    const octet_image_size planes = {size.channels, size.h * size.w, 1};
    out.clear();
    for (size_t c = 0; c < size.channels; ++c)
      for (size_t p = 0; p < size.h * size.w; ++p)
        out.insert(out.end(), element_at(0, p, c), element_at(0, p, c) + (ptrdiff_t)e);
    status = octet_transpose_create(&transpose, &f, nullptr);
    check(created(status, f, size, planes, e, e), in.bytes, out);
    transpose.to = OCTET_NHWC;
    status = octet_transpose_create(&transpose, &f, nullptr);
    check(created(status, f, planes, size, e, e), out, in.bytes);
    if (HasFailure()) return;
  }
}

OCTET_FOR_EACH_TIER(ImageDefinitionsTest);

}  // namespace
}  // namespace octet_test
