// SPDX-License-Identifier: Apache-2.0
// Compares conversions between f32 and 8 or 16 bits with their definitions, for floats beside all
// places where bytes change and many where s16 values do, on every tier.
#include <cmath>
#include <cstring>

#include "functions/function_case.h"
#include "support/reference.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

int32_t clamp(double x, octet_type type) {
  const double lo = type == OCTET_U8 ? 0 : type == OCTET_S16 ? -32768 : -128;
  return (int32_t)std::min(std::max(x, lo), lo + (type == OCTET_S16 ? 65535 : 255));
}

int32_t quantized(float x, const octet_quantized& q, octet_arithmetic arithmetic) {
  double steps;
  if (std::isnan(x))
    steps = arithmetic == OCTET_ARITHMETIC_XNNPACK ? 1000 : 0;
  else if (arithmetic == OCTET_ARITHMETIC_TFLITE)
    steps = round_half_away(x / q.scale);
  else if (arithmetic == OCTET_ARITHMETIC_XNNPACK)
    steps = (double)std::nearbyint(x * (1 / q.scale));
  else
    steps = (double)std::nearbyint(x / q.scale);
  return clamp(steps + q.zero_point, q.type);
}

// Halves of steps with the floats beside them, and extremes.
std::vector<float> floats_for(float scale) {
  std::vector<float> all = {NAN,  -NAN,  INFINITY, -INFINITY, 3e38f,     -3e38f,
                            0.0f, -0.0f, 1e-44f,   -1e-44f,   0x1p-126f, 0.49999997f * scale};
  for (const int middle : {0, -65536, 65536, 40001})  // also where words end
    for (int i = middle - 600; i <= middle + 600; ++i) {
      const float half = (float)i * 0.5f * scale;
      all.push_back(half);
      all.push_back(std::nextafter(half, INFINITY));
      all.push_back(std::nextafter(half, -INFINITY));
    }
  return all;
}

Tensor tensor_of(const std::vector<float>& floats, size_t w, size_t channels) {
  Tensor t = {1, floats.size() / (w * channels), w, channels, sizeof(float)};
  std::memcpy(t.bytes.data(), floats.data(), t.bytes.size());
  return t;
}

const octet_quantized kQuantized[] = {{OCTET_S8, 0.25f, 0},     {OCTET_U8, 0.0372f, 131},
                                      {OCTET_S8, 1e-3f, -128},  {OCTET_U8, 0x1p-126f, 255},
                                      {OCTET_S8, 0x1p48f, 127}, {OCTET_S16, 0x1p-12f, 0},
                                      {OCTET_S16, 3.7e-4f, 0},  {OCTET_S16, 0x1p-126f, 0}};

TEST(Quantize, EachArithmeticOnEveryTier) {
  for (const octet_quantized& q : kQuantized)
    for (int arithmetic = 0; arithmetic < 4; ++arithmetic)
      for (const size_t channels : {1, 5, 67}) {
        if (q.type == OCTET_S16 && arithmetic != OCTET_ARITHMETIC_TFLITE) continue;
        octet_quantize_desc d = OCTET_QUANTIZE_DESC_INIT;
        d.quantized = q, d.arithmetic = (octet_arithmetic)arithmetic;
        std::vector<float> floats = floats_for(q.scale);
        const size_t w = 2;
        floats.resize(floats.size() / (w * channels) * w * channels);
        const Tensor in = tensor_of(floats, w, channels);
        Bytes wanted;
        for (const float x : floats) push_value(quantized(x, q, d.arithmetic), q.type, &wanted);
        const size_t element = bytes_of(q.type);
        const HowToRun hows[] = {{},
                                 {{4, 8, 4}, {3 * element, 7 * element, element}, Side::kBack, 3},
                                 {{}, {}, Side::kFront, 2}};
        for (const octet_isa isa : tiers_to_test()) {
          d.max_isa = isa;
          const Function f = make(octet_quantize_create, d);
          for (const HowToRun& how : hows)
            ASSERT_EQ(run(f, {in}, {1, in.h, w, channels, element}, how), wanted)
                << arithmetic << " " << q.scale << " " << channels;
        }
      }
}

TEST(Dequantize, EachByteOnEveryTier) {
  for (const octet_quantized& q : kQuantized)
    for (const size_t channels : {1, 8, 64}) {
      octet_quantize_desc d = OCTET_QUANTIZE_DESC_INIT;
      d.quantized = q;
      const size_t element = bytes_of(q.type);
      Tensor in = {1, 2, 128 / channels, channels, element};
      for (int i = 0; i < 256 && element == 1; ++i) in.bytes[i] = (uint8_t)i;
      if (element == 2) in.bytes = some_s16(256, (uint32_t)channels);
      std::vector<float> wanted;
      for (size_t i = 0; i < 256; ++i)
        wanted.push_back((float)(value_at(in.bytes, q.type, i) - q.zero_point) * q.scale);
      const Tensor out = {1, in.h, in.w, channels, sizeof(float)};
      Bytes bytes(out.bytes.size());
      std::memcpy(bytes.data(), wanted.data(), bytes.size());
      for (const octet_isa isa : tiers_to_test()) {
        d.max_isa = isa;
        const Function f = make(octet_dequantize_create, d);
        for (const HowToRun& how :
             {HowToRun{},
              HowToRun{{3 * element, 7 * element, element}, {4, 8, 12}, Side::kBack, 3}})
          ASSERT_EQ(run(f, {in}, out, how), bytes) << q.scale << " " << channels;
      }
    }
}

TEST(Quantize, RefusesBadDescriptors) {
  octet_quantize_desc good = OCTET_QUANTIZE_DESC_INIT;
  good.quantized = {OCTET_S8, 0.1f, 3};
  const auto expect = [](const octet_quantize_desc& d, octet_status status, const char* words) {
    for (const auto create : {octet_quantize_create, octet_dequantize_create}) {
      octet_function* f = (octet_function*)&d;
      octet_error error = {};
      EXPECT_EQ(create(&d, &f, &error), status) << error.message;
      EXPECT_EQ(f, nullptr);
      EXPECT_NE(strstr(error.message, words), nullptr) << error.message;
    }
  };
  octet_quantize_desc d = good;
  d.quantized.scale = 0, expect(d, OCTET_BAD_SCALE, "desc.quantized");
  d = good, d.quantized.type = OCTET_S16;
  expect(d, OCTET_BAD_ZERO_POINT, "of OCTET_S16 it must be 0");
  for (const float scale : {-1.0f, NAN, INFINITY, 0x1p49f})
    d.quantized = {OCTET_S16, scale, 0}, expect(d, OCTET_BAD_SCALE, "desc.quantized");
  d = good, d.quantized.type = OCTET_F32, expect(d, OCTET_UNKNOWN_ENUM, "desc.quantized.type");
  d = good, d.arithmetic = (octet_arithmetic)9, expect(d, OCTET_UNKNOWN_ENUM, "desc.arithmetic");
  d = good, d.reserved = 1, expect(d, OCTET_UNSUPPORTED, "desc.reserved");
  d = good, d.arithmetic = OCTET_ARITHMETIC_XNNPACK, d.quantized.scale = 0x1p-140f;
  octet_function* f = nullptr;
  EXPECT_EQ(octet_quantize_create(&d, &f, nullptr), OCTET_BAD_SCALE);
  octet_error error = {};
  d = good, d.quantized = {OCTET_S16, 0.1f, 0};
  EXPECT_EQ(octet_quantize_create(&d, &f, &error), OCTET_UNSUPPORTED);
  EXPECT_NE(strstr(error.message, "OCTET_ARITHMETIC_TFLITE only"), nullptr) << error.message;
}

}  // namespace
}  // namespace octet_test
