// SPDX-License-Identifier: Apache-2.0
// Holds each tier's quantization of floats against a division for every value, beside the halves
// between two integers above all, where a multiplication by the inverse of the scale would fail.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "dispatch/tables/tier_ops.h"
#include "octet/helpers.h"
#include "support/guarded.h"
#include "support/tiers.h"
#include "support/upper_halves.h"

namespace octet_test {
namespace {

uint8_t defined(const octet::Quantization& by, float x) {
  const float quotient = x / by.scale;
  if (std::isnan(quotient)) return (uint8_t)by.zero_point;
  const float lo = (float)(by.lo - by.zero_point), hi = (float)(by.hi - by.zero_point);
  return (uint8_t)((int32_t)std::nearbyint(std::fmin(std::fmax(quotient, lo), hi)) + by.zero_point);
}

class QuantizeFloats : public testing::TestWithParam<octet_isa> {
 protected:
  void check(const octet::Quantization& by, const std::vector<float>& values) {
    const Guarded from(values, Side::kBack), to(values.size(), Side::kBack);
    octet::ops_of((octet::TierId)GetParam())
        .quantize_floats(by, from.data<float>(), values.size(), to.data());
    const bool in_use = upper_halves_in_use();
    EXPECT_FALSE(in_use);
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(to.data()[i], defined(by, values[i]))
          << values[i] << " by " << by.scale << " at " << i;
  }
};

TEST_P(QuantizeFloats, DividesBesideHalves) {
  std::mt19937 random(7);
  const float infinity = std::numeric_limits<float>::infinity();
  for (int round = 0; round < 400; ++round) {
    const bool is_signed = round % 2 != 0;
    const int32_t lo = is_signed ? -128 : 0, hi = lo + 255;
    const auto exponent = (int)(random() % 40) - 20;
    const float scale = std::ldexp(1 + (float)(random() % 8388608) / 8388608, exponent);
    const octet::Quantization by = {scale, lo + (int32_t)(random() % 256), lo, hi};
    std::vector<float> values = {NAN, infinity, -infinity, 0.0f, -0.0f, 3e38f, -3e38f, 1e-44f};
    while (values.size() < 61 + random() % 40) {
      float value = (float)((int)(random() % 600) - 300) * 0.5f * scale;
      for (uint32_t steps = random() % 4; steps > 0; --steps)
        value = std::nextafter(value, random() % 2 ? infinity : -infinity);
      values.push_back(value);
    }
    check(by, values);
  }
}

TEST_P(QuantizeFloats, TakesEveryScale) {
  for (const float scale :
       {1e-45f, 1e-38f, 1e-37f, 0x1p-120f, 0x1p120f, 1e38f, 3.4e38f, (float)NAN})
    for (size_t count : {0, 1, 7, 8, 15, 16, 17, 33}) {
      std::vector<float> values;
      for (size_t i = 0; i < count; ++i) values.push_back(scale * ((float)i * 0.5f - 6));
      if (std::isnan(scale)) values.assign(count, 1.0f);
      check({scale, 3, 0, 255}, values);
      check({scale, 0, -127, 127}, values);
    }
}

// The same bytes in tasks, also where the tensor is no multiple of the tasks.
TEST(QuantizeInTasks, GivesTheSameBytes) {
  struct Counted {
    static void run(void* context, size_t count, void (*fn)(void*, size_t), void* arg) {
      *(size_t*)context += count;
      for (size_t i = count; i > 0; --i) fn(arg, i - 1);
    }
  };
  std::mt19937 random(5);
  std::normal_distribution<float> draw;
  for (const octet_lhs_quant quant : {OCTET_LHS_SYMMETRIC, OCTET_LHS_ASYMMETRIC})
    for (const bool is_number : {true, false}) {
      std::vector<float> values(1000003);
      for (float& value : values) value = draw(random);
      values[999999] = is_number ? -7.5f : std::numeric_limits<float>::infinity();
      std::vector<uint8_t> want(values.size()), got(values.size(), 9);
      float scales[2] = {};
      int32_t zero_points[2] = {};
      ASSERT_EQ(octet_dynamic_quantize(quant, values.data(), values.size(), want.data(), scales,
                                       zero_points, nullptr),
                OCTET_OK);
      size_t tasks = 0;
      ASSERT_EQ(
          octet_dynamic_quantize_in_tasks(quant, values.data(), values.size(), Counted::run, &tasks,
                                          7, got.data(), scales + 1, zero_points + 1, nullptr),
          OCTET_OK);
      EXPECT_EQ(tasks, 14u);
      EXPECT_EQ(std::memcmp(scales, scales + 1, sizeof *scales), 0);
      EXPECT_EQ(zero_points[0], zero_points[1]);
      EXPECT_EQ(got, want);
    }
}

INSTANTIATE_TEST_SUITE_P(, QuantizeFloats, testing::ValuesIn(tiers_to_test()),
                         [](const auto& info) { return std::string(octet_isa_name(info.param)); });

}  // namespace
}  // namespace octet_test
