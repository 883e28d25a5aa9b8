// SPDX-License-Identifier: Apache-2.0
// Checks the float scales that stand for factors of double mode, against both modes' definitions.
#include "operators/epilogue/float_scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace octet_test {
namespace {

// Of an output with this zero point.
octet::Epilogue clamped(int32_t zero_point) {
  octet::Epilogue plan = {};
  plan.lo_f32 = (float)(-128 - zero_point), plan.hi_f32 = (float)(127 - zero_point);
  return plan;
}

double in_double(int32_t acc, double factor, const octet::Epilogue& plan) {
  return std::fmin(std::fmax(std::round((double)acc * factor), plan.lo_f32), plan.hi_f32);
}
double in_float(int32_t acc, float scale, const octet::Epilogue& plan) {
  return std::fmin(std::fmax(std::nearbyint((float)acc * scale), plan.lo_f32), plan.hi_f32);
}

// All sums up to one far beyond the clamp, then some of each size.
void expect_alike(double factor, float scale, const octet::Epilogue& plan) {
  const auto compare = [&](int64_t acc) {
    if (acc < INT32_MIN || acc > INT32_MAX) return;
    ASSERT_EQ(in_float((int32_t)acc, scale, plan), in_double((int32_t)acc, factor, plan))
        << factor << " of " << acc;
  };
  const auto beyond = (int64_t)std::fmin(300 / factor, 1 << 21);
  for (int64_t acc = -beyond; acc <= beyond; ++acc) compare(acc);
  for (int64_t power = 1; power <= (int64_t)1 << 31; power *= 2)
    for (const int64_t step : {-1, 0, 1}) compare(power + step), compare(-power + step);
}

TEST(FloatScale, GivesDoubleModesBytes) {
  std::mt19937 random(5);
  const auto found = [&](double around) {
    int count = 0;
    for (int i = 0; i < 60; ++i) {
      const double factor = around * std::uniform_real_distribution<>(0.7, 1.4)(random);
      const octet::Epilogue plan = clamped((int32_t)(random() % 256) - 128);
      const float scale = octet::float_scale_of(factor, plan);
      if (scale == 0) continue;
      ++count;
      expect_alike(factor, scale, plan);
    }
    return count;
  };
  EXPECT_EQ(found(0.02), 60);
  EXPECT_GT(found(0.003), 45);
  EXPECT_GT(found(0.5), 55);
  EXPECT_EQ(found(1e-5), 0);
  found(3);
}

// Halves: double mode rounds them away from zero, float mode to even.
TEST(FloatScale, IsNoneWhereHalvesDiffer) {
  for (const double factor : {0.5, 0.25, 1.5, 0.0625}) {
    const float scale = octet::float_scale_of(factor, clamped(3));
    if (scale != 0) expect_alike(factor, scale, clamped(3));
    EXPECT_NE(scale, (float)factor);
  }
  EXPECT_EQ(octet::float_scale_of(1, clamped(0)), 1);
  EXPECT_EQ(octet::float_scale_of(2, clamped(0)), 2);
}

TEST(FloatScale, OfExtremeFactors) {
  for (const double factor : {0x1p48, 1e-20, 1e-45, 1e-320, 0x1p-31, 0x1p-33}) {
    const float scale = octet::float_scale_of(factor, clamped(-1));
    if (scale != 0) expect_alike(factor, scale, clamped(-1));
  }
}

}  // namespace
}  // namespace octet_test
