// SPDX-License-Identifier: Apache-2.0
// Checks each number of octet/helpers.h against the formula that its comment or TFLite's sources
// give, in doubles that hold it.
#include <gtest/gtest.h>
#include <octet/helpers.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/guarded.h"
#include "support/reference.h"
#include "support/refused.h"

namespace octet_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                kInf = std::numeric_limits<float>::infinity();
constexpr float kBadScales[] = {0.0f, -0.0f, -1.0f, kNan, kInf, -kInf, 0x1.000002p48f};

int32_t least(octet_type type) { return type == OCTET_U8 ? 0 : -128; }
int32_t most(octet_type type) { return least(type) + 255; }

// ---- TFLite's multipliers -----------------------------------------------------------------------

struct Multipliers {
  std::vector<int32_t> multipliers, shifts;
  bool operator==(const Multipliers& o) const {
    return multipliers == o.multipliers && shifts == o.shifts;
  }
};

Multipliers multipliers_of(octet_tflite_op op, octet_type type, float lhs,
                           const std::vector<float>& rhs, float dst) {
  octet_error error = {};
  Multipliers m = {std::vector<int32_t>(rhs.size()), std::vector<int32_t>(rhs.size())};
  EXPECT_EQ(octet_tflite_multipliers(op, type, lhs, rhs.data(), rhs.size(), dst,
                                     m.multipliers.data(), m.shifts.data(), &error),
            OCTET_OK)
      << error.message;
  return m;
}

Multipliers reference_multipliers(float lhs, const std::vector<float>& rhs, float dst,
                                  bool in_double) {
  Multipliers m;
  for (const float scale : rhs) {
    const double product = (double)lhs * (double)scale;  // exact
    const double factor = (in_double ? product : fl(product)) / (double)dst;
    int32_t multiplier, shift;
    quantize_multiplier(factor, &multiplier, &shift);
    m.multipliers.push_back(multiplier), m.shifts.push_back(shift);
  }
  return m;
}

TEST(TfliteMultipliers, EachOperatorMultipliesInItsOwnPrecision) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> draw(0.0005f, 0.1f);
  size_t differ = 0;
  for (int i = 0; i < 1000; ++i) {
    const float lhs = draw(random), dst = draw(random);
    const std::vector<float> one = {draw(random)}, many = {draw(random), draw(random), one[0]};
    const Multipliers in_double = reference_multipliers(lhs, one, dst, true),
                      in_float = reference_multipliers(lhs, one, dst, false),
                      channels = reference_multipliers(lhs, many, dst, true);
    differ += !(in_double == in_float);
    EXPECT_EQ(multipliers_of(OCTET_TFLITE_CONVOLUTION, OCTET_S8, lhs, one, dst), in_double);
    EXPECT_EQ(multipliers_of(OCTET_TFLITE_CONVOLUTION, OCTET_S8, lhs, many, dst), channels);
    EXPECT_EQ(multipliers_of(OCTET_TFLITE_CONVOLUTION, OCTET_U8, lhs, one, dst), in_float);
    EXPECT_EQ(multipliers_of(OCTET_TFLITE_FULLY_CONNECTED, OCTET_S8, lhs, one, dst), in_float);
    EXPECT_EQ(multipliers_of(OCTET_TFLITE_FULLY_CONNECTED, OCTET_S8, lhs, many, dst), channels);
    EXPECT_EQ(multipliers_of(OCTET_TFLITE_FULLY_CONNECTED, OCTET_U8, lhs, one, dst), in_float);
  }
  EXPECT_GT(differ, 500u);  // else both precisions give the same
}

TEST(TfliteMultipliers, ExtremeFactors) {
  const octet_tflite_op op = OCTET_TFLITE_CONVOLUTION;
  const Multipliers zero = {{0}, {0}}, one = {{1 << 30}, {1}}, largest = {{INT32_MAX - 127}, {30}};
  EXPECT_EQ(multipliers_of(op, OCTET_S8, 0x1p-20f, {0x1p-20f}, 1), zero);
  EXPECT_EQ(multipliers_of(op, OCTET_S8, 1, {1}, 1), one);
  EXPECT_EQ(multipliers_of(op, OCTET_U8, 1, {std::nextafter(0x1p30f, 0.0f)}, 1), largest);
}

TEST(TfliteMultipliers, BadInput) {
  struct Call {
    octet_tflite_op op = OCTET_TFLITE_CONVOLUTION;
    octet_type type = OCTET_S8;
    float lhs = 1, dst = 1;
    std::vector<float> rhs = {1, 1};
    const float* rhs_data = nullptr;
    size_t count = 2;
    std::vector<int32_t> multipliers = {7, 7}, shifts = {7, 7};
    int32_t *multipliers_data = nullptr, *shifts_data = nullptr;
  };
  const auto refuses = [](octet_status status, const char* name, const auto& spoil) {
    Call c;
    c.rhs_data = c.rhs.data();
    c.multipliers_data = c.multipliers.data(), c.shifts_data = c.shifts.data();
    spoil(c);
    expect_refused(status, name, [&](octet_error* e) {
      return octet_tflite_multipliers(c.op, c.type, c.lhs, c.rhs_data, c.count, c.dst,
                                      c.multipliers_data, c.shifts_data, e);
    });
    EXPECT_EQ(c.multipliers, (std::vector<int32_t>{7, 7}));
    EXPECT_EQ(c.shifts, (std::vector<int32_t>{7, 7}));
  };
  for (const int bad : {-1, 2})
    refuses(OCTET_UNKNOWN_ENUM, "op", [&](Call& c) { set_raw(&c.op, bad); });
  for (const int bad : {0, 3, 4})
    refuses(OCTET_UNKNOWN_ENUM, "type", [&](Call& c) { set_raw(&c.type, bad); });
  refuses(OCTET_NULL_POINTER, "rhs_scales", [](Call& c) { c.rhs_data = nullptr; });
  refuses(OCTET_NULL_POINTER, "multipliers", [](Call& c) { c.multipliers_data = nullptr; });
  refuses(OCTET_NULL_POINTER, "shifts", [](Call& c) { c.shifts_data = nullptr; });
  refuses(OCTET_BAD_SIZE, "count", [](Call& c) { c.count = 0; });
  refuses(OCTET_UNSUPPORTED, "count is 2", [](Call& c) { c.type = OCTET_U8; });
  for (const float bad : kBadScales) {
    refuses(OCTET_BAD_SCALE, "lhs_scale", [&](Call& c) { c.lhs = bad; });
    refuses(OCTET_BAD_SCALE, "dst_scale", [&](Call& c) { c.dst = bad; });
    refuses(OCTET_BAD_SCALE, "rhs_scales[1]", [&](Call& c) { c.rhs[1] = bad; });
  }
  refuses(OCTET_BAD_SCALE, "rhs_scales[1]", [](Call& c) { c.rhs[1] = 0x1p30f; });
}

TEST(TfliteAddMultipliers, TwiceTheLargerScaleIsTheUnit) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> draw(0.001f, 0.1f);
  for (int i = 0; i < 1000; ++i) {
    const float product = draw(random), residual = draw(random), dst = draw(random);
    const double unit = 2.0 * (double)std::max(product, residual);
    octet_residual r = {OCTET_U8, 3, 4, 5, 0, 0, 0, 0, 0, 0};
    octet_error error = {};
    ASSERT_EQ(octet_tflite_add(product, residual, dst, &r, &error), OCTET_OK) << error.message;
    const struct {
      double factor;
      int32_t multiplier, shift;
    } rows[] = {{product / unit, r.product_multiplier, r.product_shift},
                {residual / unit, r.residual_multiplier, r.residual_shift},
                {unit / (0x1p20 * (double)dst), r.dst_multiplier, r.dst_shift}};
    for (const auto& row : rows) {
      int32_t multiplier, shift;
      quantize_multiplier(row.factor, &multiplier, &shift);
      EXPECT_EQ(row.multiplier, multiplier);
      EXPECT_EQ(row.shift, shift);
      EXPECT_LE(row.shift, 0);
    }
    EXPECT_EQ(r.type, OCTET_U8);
    EXPECT_EQ(r.zero_point, 3);
    EXPECT_EQ(r.scale, 4);
    EXPECT_EQ(r.intermediate_zero_point, 5);
  }
}

TEST(TfliteAddMultipliers, BadInput) {
  octet_residual residual = {};
  const octet_residual untouched = residual;
  const auto refuses = [&](octet_status status, const char* name, float product, float addend,
                           float dst, octet_residual* r) {
    expect_refused(status, name,
                   [&](octet_error* e) { return octet_tflite_add(product, addend, dst, r, e); });
    EXPECT_EQ(std::memcmp(&residual, &untouched, sizeof residual), 0);
  };
  refuses(OCTET_NULL_POINTER, "residual", 1, 1, 1, nullptr);
  for (const float bad : kBadScales) {
    refuses(OCTET_BAD_SCALE, "product_scale", bad, 1, 1, &residual);
    refuses(OCTET_BAD_SCALE, "residual_scale", 1, bad, 1, &residual);
    refuses(OCTET_BAD_SCALE, "dst_scale", 1, 1, bad, &residual);
  }
  // The sum's factor must be below 1: 2 / (2^20 * dst).
  refuses(OCTET_BAD_SCALE, "dst_scale", 1, 0.5f, 0x1p-19f, &residual);
  refuses(OCTET_BAD_SCALE, "dst_scale", 0.5f, 1, 0x1p-40f, &residual);
  octet_residual r = {};
  EXPECT_EQ(octet_tflite_add(1, 0.5f, std::nextafter(0x1p-19f, 1.0f), &r, nullptr), OCTET_OK);
}

// ---- padding ------------------------------------------------------------------------------------

struct Sizes {
  size_t in, kernel, stride, dilation;
};
std::vector<Sizes> all_sizes() {
  std::vector<Sizes> sizes;
  for (const size_t in : {1, 2, 3, 7, 14, 15, 16})
    for (const size_t kernel : {1, 2, 3, 4, 7})
      for (const size_t stride : {1, 2, 3, 5})
        for (const size_t dilation : {1, 2}) sizes.push_back({in, kernel, stride, dilation});
  return sizes;
}

// The two directions differ, so that none stands for the other.
octet_conv2d_shape shape_of(const Sizes& h, const Sizes& w, int transposed) {
  octet_conv2d_shape s = OCTET_CONV2D_SHAPE_INIT;
  s.in_channels = s.out_channels = 1, s.transposed = transposed;
  s.in_h_max = h.in, s.kernel_h = h.kernel, s.stride_h = h.stride, s.dilation_h = h.dilation;
  s.in_w_max = w.in, s.kernel_w = w.kernel, s.stride_w = w.stride, s.dilation_w = w.dilation;
  s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 99;  // to be overwritten
  s.output_padding_h = s.output_padding_w = 99;
  return s;
}

struct Size {
  size_t h, w;
};
Size output_of(const octet_conv2d_shape& s) {
  Size out = {0, 0};
  octet_error error = {};
  EXPECT_EQ(octet_conv2d_output_size(&s, s.in_h_max, s.in_w_max, &out.h, &out.w, &error), OCTET_OK)
      << error.message;
  return out;
}

// SAME pads an odd pixel behind, other paddings before; the sides differ by no more.
void expect_balanced(octet_padding padding, size_t before, size_t after) {
  if (padding == OCTET_PADDING_SAME)
    EXPECT_TRUE(after == before || after == before + 1) << before << ' ' << after;
  else
    EXPECT_TRUE(before == after || before == after + 1) << before << ' ' << after;
}

TEST(Padding, SameKeepsTheSizeButForTheStride) {
  const Sizes other = {11, 3, 4, 3};
  for (const octet_padding padding : {OCTET_PADDING_SAME, OCTET_PADDING_SAME_LOWER})
    for (const Sizes& z : all_sizes())
      for (const bool vertical : {true, false})
        for (const int transposed : {0, 1}) {
          octet_conv2d_shape s =
              vertical ? shape_of(z, other, transposed) : shape_of(other, z, transposed);
          octet_error error = {};
          ASSERT_EQ(octet_conv2d_set_padding(padding, &s, &error), OCTET_OK) << error.message;
          const Size out = output_of(s);
          const size_t want = transposed ? z.in * z.stride : (z.in + z.stride - 1) / z.stride;
          EXPECT_EQ(vertical ? out.h : out.w, want);
          EXPECT_EQ(vertical ? out.w : out.h, transposed ? 44u : 3u);
          expect_balanced(padding, s.pad_top, s.pad_bottom);
          expect_balanced(padding, s.pad_left, s.pad_right);
          if (transposed) continue;
          // One pixel less would be too few, unless there is none.
          EXPECT_EQ(s.output_padding_h + s.output_padding_w, 0u);
          size_t& after = vertical ? s.pad_bottom : s.pad_right;
          size_t& before = vertical ? s.pad_top : s.pad_left;
          if (before + after == 0) continue;
          --(after ? after : before);
          Size less = {0, 0};
          if (octet_conv2d_output_size(&s, s.in_h_max, s.in_w_max, &less.h, &less.w, nullptr) ==
              OCTET_OK) {
            EXPECT_LT(vertical ? less.h : less.w, want);
          }
        }
}

// TensorFlow's pads, computed by hand: a 3x3 kernel of stride 2 on 14 and on 15 pixels.
TEST(Padding, TheOddOne) {
  for (const auto& row : {std::array<size_t, 3>{14, 0, 1}, std::array<size_t, 3>{15, 1, 1}}) {
    octet_conv2d_shape s = shape_of({row[0], 3, 2, 1}, {row[0], 3, 2, 1}, 0);
    ASSERT_EQ(octet_conv2d_set_padding(OCTET_PADDING_SAME, &s, nullptr), OCTET_OK);
    EXPECT_EQ(s.pad_top, row[1]);
    EXPECT_EQ(s.pad_bottom, row[2]);
    ASSERT_EQ(octet_conv2d_set_padding(OCTET_PADDING_SAME_LOWER, &s, nullptr), OCTET_OK);
    EXPECT_EQ(s.pad_left, row[2]);
    EXPECT_EQ(s.pad_right, row[1]);
  }
}

TEST(Padding, ValidPadsNothing) {
  for (const int transposed : {0, 1}) {
    octet_conv2d_shape s = shape_of({7, 3, 2, 1}, {8, 2, 3, 2}, transposed);
    ASSERT_EQ(octet_conv2d_set_padding(OCTET_PADDING_VALID, &s, nullptr), OCTET_OK);
    EXPECT_EQ(s.pad_top + s.pad_bottom + s.pad_left + s.pad_right, 0u);
    EXPECT_EQ(s.output_padding_h + s.output_padding_w, 0u);
  }
}

TEST(Padding, OutputSizeOfATransposedConvolution) {
  const Sizes other = {4, 3, 2, 1};  // 9 pixels of its own
  for (const octet_padding padding :
       {OCTET_PADDING_VALID, OCTET_PADDING_SAME, OCTET_PADDING_SAME_LOWER})
    for (const Sizes& z : all_sizes())
      for (const bool vertical : {true, false}) {
        const size_t natural = (z.in - 1) * z.stride + z.dilation * (z.kernel - 1) + 1;
        for (size_t out = 1; out <= natural + z.stride; ++out) {
          octet_conv2d_shape s = vertical ? shape_of(z, other, 1) : shape_of(other, z, 1);
          const size_t out_h = vertical ? out : 8, out_w = vertical ? 8 : out;
          if (out == natural + z.stride) {
            const octet_conv2d_shape before = s;
            expect_refused(OCTET_BAD_SIZE, vertical ? "out_h" : "out_w", [&](octet_error* e) {
              return octet_conv2d_set_output_size(padding, out_h, out_w, &s, e);
            });
            EXPECT_EQ(std::memcmp(&s, &before, sizeof s), 0);
            continue;
          }
          octet_error error = {};
          ASSERT_EQ(octet_conv2d_set_output_size(padding, out_h, out_w, &s, &error), OCTET_OK)
              << error.message;
          const Size got = output_of(s);
          EXPECT_EQ(got.h, out_h);
          EXPECT_EQ(got.w, out_w);
          if (padding == OCTET_PADDING_VALID) {
            EXPECT_EQ(s.pad_top + s.pad_left, 0u);
          } else {
            expect_balanced(padding, s.pad_top, s.pad_bottom);
            expect_balanced(padding, s.pad_left, s.pad_right);
          }
        }
      }
}

TEST(Padding, BadInput) {
  const auto refuses = [](octet_status status, const char* name, int transposed,
                          const auto& spoil) {
    octet_conv2d_shape s = shape_of({7, 3, 2, 1}, {8, 2, 3, 2}, transposed);
    octet_padding padding = OCTET_PADDING_SAME;
    size_t out_h = 9, out_w = 9;
    spoil(s, padding, out_h, out_w);
    const octet_conv2d_shape before = s;
    if (out_h && out_w)
      expect_refused(status, name,
                     [&](octet_error* e) { return octet_conv2d_set_padding(padding, &s, e); });
    if (transposed)
      expect_refused(status, name, [&](octet_error* e) {
        return octet_conv2d_set_output_size(padding, out_h, out_w, &s, e);
      });
    EXPECT_EQ(std::memcmp(&s, &before, sizeof s), 0);
  };
  using Shape = octet_conv2d_shape;
  for (const int transposed : {0, 1}) {
    for (const int bad : {-1, 3})
      refuses(OCTET_UNKNOWN_ENUM, "padding", transposed,
              [&](Shape&, octet_padding& p, size_t&, size_t&) { set_raw(&p, bad); });
    const struct {
      const char* name;
      size_t Shape::*field;
    } fields[] = {
        {"shape.in_h_max", &Shape::in_h_max},     {"shape.in_w_max", &Shape::in_w_max},
        {"shape.kernel_h", &Shape::kernel_h},     {"shape.kernel_w", &Shape::kernel_w},
        {"shape.stride_h", &Shape::stride_h},     {"shape.stride_w", &Shape::stride_w},
        {"shape.dilation_h", &Shape::dilation_h}, {"shape.dilation_w", &Shape::dilation_w}};
    for (const auto& f : fields)
      for (const size_t bad : {size_t{0}, (size_t{1} << 31) + 1, SIZE_MAX})
        refuses(OCTET_BAD_SIZE, f.name, transposed,
                [&](Shape& s, octet_padding&, size_t&, size_t&) { s.*f.field = bad; });
    refuses(OCTET_BAD_SIZE, "pads", transposed, [](Shape& s, octet_padding&, size_t&, size_t&) {
      s.kernel_w = size_t{1} << 31, s.dilation_w = 4;
    });
  }
  for (const int bad : {-1, 2})
    refuses(OCTET_UNKNOWN_ENUM, "shape.transposed", bad,
            [](Shape&, octet_padding&, size_t&, size_t&) {});
  refuses(OCTET_BAD_SIZE, "out_h", 1, [](Shape&, octet_padding&, size_t& h, size_t&) { h = 0; });
  refuses(OCTET_BAD_SIZE, "out_w", 1, [](Shape&, octet_padding&, size_t&, size_t& w) { w = 0; });
  octet_conv2d_shape s = shape_of({7, 3, 2, 1}, {8, 2, 3, 2}, 0);
  expect_refused(OCTET_UNSUPPORTED, "shape.transposed", [&](octet_error* e) {
    return octet_conv2d_set_output_size(OCTET_PADDING_SAME, 4, 3, &s, e);
  });
  expect_refused(OCTET_NULL_POINTER, "shape", [](octet_error* e) {
    return octet_conv2d_set_padding(OCTET_PADDING_SAME, nullptr, e);
  });
  expect_refused(OCTET_NULL_POINTER, "shape", [](octet_error* e) {
    return octet_conv2d_set_output_size(OCTET_PADDING_SAME, 1, 1, nullptr, e);
  });
}

// ---- quantization -------------------------------------------------------------------------------

std::vector<float> interesting_floats(float scale) {
  std::vector<float> values = {0.0f,
                               -0.0f,
                               kInf,
                               -kInf,
                               std::numeric_limits<float>::max(),
                               1e-45f,
                               -1e-45f,
                               0x1p31f * scale,
                               -0x1p31f * scale,
                               kNan,
                               -kNan};
  for (int i = -600; i <= 600; ++i) values.push_back((float)i * 0.5f * scale);
  std::mt19937 random(3);
  std::uniform_real_distribution<float> draw(-300, 300);
  for (int i = 0; i < 500; ++i) values.push_back(draw(random) * scale);
  return values;
}

int32_t reference_quantize(float x, float scale, int32_t zero_point, octet_type type) {
  if (std::isnan(x)) return zero_point;
  const double steps = fl((double)x / (double)scale);
  const double clamped = std::min(std::max(steps, -1000.0), 1000.0);
  return std::clamp((int32_t)std::nearbyint(clamped) + zero_point, least(type), most(type));
}

TEST(Quantize, RoundsAndSaturatesAsTheContractSays) {
  for (const octet_type type : {OCTET_S8, OCTET_U8})
    for (const int32_t zero_point : {least(type), least(type) + 1, 7, most(type)})
      for (const float scale : {1.0f, 0.5f, 0.0123f, 3e-39f, 0x1p48f}) {
        const std::vector<float> values = interesting_floats(scale);
        const Guarded from(values, Side::kBack);
        const Guarded to(values.size(), Side::kBack);
        from.read_only();
        octet_error error = {};
        ASSERT_EQ(octet_quantize(from.data<float>(), values.size(), scale, zero_point, type,
                                 to.data(), &error),
                  OCTET_OK)
            << error.message;
        for (size_t i = 0; i < values.size(); ++i) {
          const int32_t got = type == OCTET_U8 ? to.data()[i] : to.data<int8_t>()[i];
          ASSERT_EQ(got, reference_quantize(values[i], scale, zero_point, type))
              << values[i] << " / " << scale << " + " << zero_point;
        }
      }
}

template <typename T>
void expect_dequantized(octet_type type, const std::vector<T>& values, float scale,
                        int32_t zero_point) {
  const Guarded from(values, Side::kBack);
  const Guarded to(values.size() * sizeof(float), Side::kBack, sizeof(float));
  octet_error error = {};
  ASSERT_EQ(octet_dequantize(from.data(), type, values.size(), scale, zero_point, to.data<float>(),
                             &error),
            OCTET_OK)
      << error.message;
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(to.data<float>()[i],
              fl((double)fl((double)(int64_t{values[i]} - zero_point)) * (double)scale));
}

TEST(Dequantize, EveryValue) {
  std::vector<int8_t> s8;
  std::vector<uint8_t> u8;
  for (int i = 0; i < 256; ++i) s8.push_back((int8_t)i), u8.push_back((uint8_t)i);
  for (const float scale : {1.0f, 0.1f, 0x1p48f, 1e-44f}) {
    for (const int32_t zero_point : {-128, -1, 0, 127})
      expect_dequantized(OCTET_S8, s8, scale, zero_point);
    for (const int32_t zero_point : {0, 128, 255})
      expect_dequantized(OCTET_U8, u8, scale, zero_point);
    expect_dequantized<int32_t>(
        OCTET_S32, {0, 1, -1, 16777217, -16777219, INT32_MAX, INT32_MIN, 33554435}, scale, 0);
  }
}

// octet_dynamic_quantize equals a run's quantization of an f32 lhs.
TEST(DynamicQuantize, ByTheRangeOfTheValues) {
  std::mt19937 random(4);
  for (const octet_lhs_quant quant : {OCTET_LHS_SYMMETRIC, OCTET_LHS_ASYMMETRIC})
    for (const float reach : {1.0f, 1e-20f, 1e-31f, 1e20f, 3e38f})
      for (const float shift : {0.0f, 0.5f, 2.0f, -2.0f}) {
        std::uniform_real_distribution<float> draw(-0.5f, 0.5f);
        std::vector<float> values;
        for (int i = 0; i < 67; ++i) values.push_back((draw(random) + shift) * (reach / 3));
        if (shift == 0.5f) values[3] = kInf;
        const Guarded from(values, Side::kBack);
        const Guarded to(values.size(), Side::kBack);
        float scale = 0;
        int32_t zero_point = 99;
        octet_error error = {};
        ASSERT_EQ(octet_dynamic_quantize(quant, from.data<float>(), values.size(), to.data(),
                                         &scale, &zero_point, &error),
                  OCTET_OK)
            << error.message;
        const bool symmetric = quant == OCTET_LHS_SYMMETRIC;
        const QuantizedRow want = symmetric ? quantize_symmetric(values.data(), values.size())
                                            : quantize_asymmetric(values.data(), values.size());
        if (std::isnan(want.scale)) {
          EXPECT_TRUE(std::isnan(scale));
          EXPECT_EQ(std::count(to.data(), to.data() + values.size(), 0), 67);
          continue;
        }
        EXPECT_EQ(scale, want.scale);
        EXPECT_EQ(zero_point, want.zero_point);
        for (size_t i = 0; i < values.size(); ++i) {
          const int32_t got = symmetric ? to.data<int8_t>()[i] : to.data()[i];
          ASSERT_EQ(got, want.values[i]) << i;
        }
      }
}

TEST(Quantize, BadInput) {
  float values[4] = {1, 2, 3, 4}, scale = 9;
  uint8_t bytes[16] = {5, 5, 5, 5};
  int32_t zero_point = 9;
  const auto quantize = [&](octet_status status, const char* name, const float* from, size_t count,
                            float s, int32_t z, int type, void* to) {
    octet_type t;
    set_raw(&t, type);
    expect_refused(status, name,
                   [&](octet_error* e) { return octet_quantize(from, count, s, z, t, to, e); });
  };
  const auto dequantize = [&](octet_status status, const char* name, const void* from, size_t count,
                              float s, int32_t z, int type, float* to) {
    octet_type t;
    set_raw(&t, type);
    expect_refused(status, name,
                   [&](octet_error* e) { return octet_dequantize(from, t, count, s, z, to, e); });
  };
  const auto dynamic = [&](octet_status status, const char* name, int quant, const float* from,
                           size_t count, void* to, float* s, int32_t* z) {
    octet_lhs_quant q;
    set_raw(&q, quant);
    expect_refused(status, name, [&](octet_error* e) {
      return octet_dynamic_quantize(q, from, count, to, s, z, e);
    });
  };
  const float* const shifted = (const float*)(bytes + 1);
  quantize(OCTET_NULL_POINTER, "values", nullptr, 4, 1, 0, OCTET_S8, bytes);
  quantize(OCTET_NULL_POINTER, "quantized", values, 4, 1, 0, OCTET_S8, nullptr);
  quantize(OCTET_MISALIGNED, "values", shifted, 1, 1, 0, OCTET_S8, bytes + 8);
  quantize(OCTET_OVERLAP, "values", values, 4, 1, 0, OCTET_S8, values);
  quantize(OCTET_BAD_SIZE, "count", values, SIZE_MAX / 4, 1, 0, OCTET_S8, bytes);
  for (const float bad : kBadScales)
    quantize(OCTET_BAD_SCALE, "scale", values, 4, bad, 0, OCTET_S8, bytes);
  quantize(OCTET_BAD_ZERO_POINT, "zero_point", values, 4, 1, 128, OCTET_S8, bytes);
  quantize(OCTET_BAD_ZERO_POINT, "zero_point", values, 4, 1, -1, OCTET_U8, bytes);
  for (const int type : {0, 3, 4, -1})
    quantize(OCTET_UNKNOWN_ENUM, "type", values, 4, 1, 0, type, bytes);

  dequantize(OCTET_NULL_POINTER, "values", bytes, 4, 1, 0, OCTET_S8, nullptr);
  dequantize(OCTET_NULL_POINTER, "quantized", nullptr, 4, 1, 0, OCTET_S8, values);
  dequantize(OCTET_MISALIGNED, "quantized", shifted, 1, 1, 0, OCTET_S32, values);
  dequantize(OCTET_OVERLAP, "quantized", values + 3, 4, 1, 0, OCTET_U8, values);
  dequantize(OCTET_BAD_SIZE, "count", bytes, SIZE_MAX / 4, 1, 0, OCTET_S8, values);
  for (const float bad : kBadScales)
    dequantize(OCTET_BAD_SCALE, "scale", bytes, 4, bad, 0, OCTET_S8, values);
  dequantize(OCTET_BAD_ZERO_POINT, "zero_point", bytes, 4, 1, 256, OCTET_U8, values);
  dequantize(OCTET_BAD_ZERO_POINT, "zero_point", bytes, 1, 1, 1, OCTET_S32, values);
  for (const int type : {0, 4, -1})
    dequantize(OCTET_UNKNOWN_ENUM, "type", bytes, 4, 1, 0, type, values);

  dynamic(OCTET_NULL_POINTER, "values", OCTET_LHS_SYMMETRIC, nullptr, 4, bytes, &scale,
          &zero_point);
  dynamic(OCTET_NULL_POINTER, "quantized", OCTET_LHS_SYMMETRIC, values, 4, nullptr, &scale,
          &zero_point);
  dynamic(OCTET_NULL_POINTER, "scale", OCTET_LHS_SYMMETRIC, values, 4, bytes, nullptr, &zero_point);
  dynamic(OCTET_NULL_POINTER, "zero_point", OCTET_LHS_SYMMETRIC, values, 4, bytes, &scale, nullptr);
  dynamic(OCTET_OVERLAP, "values", OCTET_LHS_SYMMETRIC, values, 4, values + 1, &scale, &zero_point);
  for (const int quant : {0, 1, 2, 5})
    dynamic(OCTET_UNKNOWN_ENUM, "quant", quant, values, 4, bytes, &scale, &zero_point);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(values[i], (float)(i + 1));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(bytes[i], 5);
  EXPECT_EQ(scale, 9);
  EXPECT_EQ(zero_point, 9);

  // No values give no output.
  EXPECT_EQ(octet_quantize(nullptr, 0, 1, 0, OCTET_S8, nullptr, nullptr), OCTET_OK);
  EXPECT_EQ(octet_dequantize(nullptr, OCTET_S8, 0, 1, 0, nullptr, nullptr), OCTET_OK);
  EXPECT_EQ(octet_dynamic_quantize(OCTET_LHS_ASYMMETRIC, nullptr, 0, nullptr, &scale, &zero_point,
                                   nullptr),
            OCTET_OK);
  EXPECT_EQ(scale, 1);
  EXPECT_EQ(zero_point, 0);
}

// ---- look-up tables -----------------------------------------------------------------------------

double times(void* factor, double x) { return *(double*)factor * x; }
double hard_swish(void*, double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }
double reciprocal(void*, double x) { return 1 / x; }
double square_root(void*, double x) { return std::sqrt(x); }

TEST(Lut, HoldsTheFunctionOfEveryByte) {
  double minus_half = -0.5, one = 1;
  const struct {
    double (*function)(void*, double);
    void* context;
  } functions[] = {
      {times, &one}, {times, &minus_half}, {hard_swish, nullptr}, {reciprocal, nullptr}};
  for (const octet_type type : {OCTET_S8, OCTET_U8})
    for (const auto& f : functions)
      for (const int32_t src_zero_point : {least(type), least(type) + 100, most(type)})
        for (const int32_t dst_zero_point : {least(type), least(type) + 130, most(type)})
          for (const float dst_scale : {0.03125f, 0.007f, 1e-40f}) {
            const float src_scale = 0.03125f;
            const Guarded lut(256, Side::kBack);
            octet_error error = {};
            ASSERT_EQ(octet_make_lut(f.function, f.context, type, src_scale, src_zero_point,
                                     dst_scale, dst_zero_point, lut.data(), &error),
                      OCTET_OK)
                << error.message;
            for (int32_t q = least(type); q <= most(type); ++q) {
              const double x = (q - src_zero_point) * (double)src_scale,
                           y = f.function(f.context, x) / (double)dst_scale;
              const double bounded = std::min(std::max(y, -1000.0), 1000.0);
              const int32_t want = std::clamp((int32_t)std::nearbyint(bounded) + dst_zero_point,
                                              least(type), most(type));
              ASSERT_EQ(lut.data()[(uint8_t)q], (uint8_t)want) << q;
            }
          }
}

// The table takes the place of an output's activation; the product is the identity.
TEST(Lut, IsWhatAnEpilogueTakes) {
  uint8_t lut[256];
  ASSERT_EQ(octet_make_lut(hard_swish, nullptr, OCTET_S8, 0.05f, 3, 0.04f, -11, lut, nullptr),
            OCTET_OK);
  const int8_t weight = 1;
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_S8, rhs.n = rhs.k = 1, rhs.data = &weight;
  size_t bytes = 0;
  ASSERT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
  const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  ASSERT_EQ(octet_pack(&rhs, OCTET_ISA_AUTO, blob.data(), bytes, nullptr), OCTET_OK);
  const float scale = 1;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max = 256, desc.n = desc.k = 1;
  desc.lhs_type = desc.rhs_type = desc.dst_type = OCTET_S8, desc.lhs_zero_point = 3;
  desc.packed = blob.data(), desc.packed_bytes = bytes;
  desc.epilogue.scales = &scale, desc.epilogue.scale_count = 1;
  desc.epilogue.dst_zero_point = 3, desc.epilogue.lut = lut;
  octet_gemm* gemm = nullptr;
  octet_error error = {};
  ASSERT_EQ(octet_gemm_create(&desc, &gemm, &error), OCTET_OK) << error.message;
  ASSERT_EQ(octet_gemm_workspace(gemm, 256, 1, &bytes, nullptr), OCTET_OK);
  const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
  std::vector<int8_t> all, out(256);
  for (int i = -128; i < 128; ++i) all.push_back((int8_t)i);
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = 256, args.lhs = all.data(), args.dst = out.data();
  args.workspace = workspace.data(), args.workspace_bytes = bytes;
  EXPECT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK) << error.message;
  octet_gemm_destroy(gemm);
  for (int i = -128; i < 128; ++i) {
    const double y = hard_swish(nullptr, (i - 3) * (double)0.05f);
    EXPECT_EQ(out[(size_t)(i + 128)],
              std::clamp((int)std::nearbyint(y / (double)0.04f) - 11, -128, 127));
  }
}

TEST(Lut, BadInput) {
  std::vector<uint8_t> lut(256, 5);
  const auto refuses = [&](octet_status status, const char* name, double (*function)(void*, double),
                           int type, float src_scale, int32_t src_zero_point, float dst_scale,
                           int32_t dst_zero_point, uint8_t* to) {
    octet_type t;
    set_raw(&t, type);
    expect_refused(status, name, [&](octet_error* e) {
      return octet_make_lut(function, nullptr, t, src_scale, src_zero_point, dst_scale,
                            dst_zero_point, to, e);
    });
    EXPECT_EQ(lut, std::vector<uint8_t>(256, 5));
  };
  uint8_t* const to = lut.data();
  refuses(OCTET_NULL_POINTER, "function", nullptr, OCTET_S8, 1, 0, 1, 0, to);
  refuses(OCTET_NULL_POINTER, "lut", hard_swish, OCTET_S8, 1, 0, 1, 0, nullptr);
  for (const int type : {0, 3, 4, -1})
    refuses(OCTET_UNKNOWN_ENUM, "type", hard_swish, type, 1, 0, 1, 0, to);
  for (const float bad : kBadScales) {
    refuses(OCTET_BAD_SCALE, "src_scale", hard_swish, OCTET_S8, bad, 0, 1, 0, to);
    refuses(OCTET_BAD_SCALE, "dst_scale", hard_swish, OCTET_S8, 1, 0, bad, 0, to);
  }
  refuses(OCTET_BAD_ZERO_POINT, "src_zero_point", hard_swish, OCTET_S8, 1, -129, 1, 0, to);
  refuses(OCTET_BAD_ZERO_POINT, "dst_zero_point", hard_swish, OCTET_U8, 1, 0, 1, 256, to);
  refuses(OCTET_UNSUPPORTED, "function gives NaN at x = -5", square_root, OCTET_S8, 0.5f, -118, 1,
          0, to);
}

}  // namespace
}  // namespace octet_test
