// SPDX-License-Identifier: Apache-2.0
// Checks TensorFlow Lite's arithmetic: the helper that maps a factor to (multiplier, shift), and
// create's limits on both. The epilogue itself is in epilogue_test, LiteRT's own outputs are in
// conformance.
#include <cmath>
#include <limits>

#include "support/gemm_case.h"
#include "support/reference.h"
#include "support/refused.h"

namespace octet_test {
namespace {

void expect_multiplier(double factor) {
  int32_t multiplier = -1, shift = -1, want_multiplier, want_shift;
  ASSERT_EQ(octet_quantize_multiplier(factor, &multiplier, &shift, nullptr), OCTET_OK) << factor;
  quantize_multiplier(factor, &want_multiplier, &want_shift);
  ASSERT_EQ(multiplier, want_multiplier) << factor;
  ASSERT_EQ(shift, want_shift) << factor;
}

TEST(QuantizeMultiplier, One) {
  int32_t multiplier, shift;
  ASSERT_EQ(octet_quantize_multiplier(1.0, &multiplier, &shift, nullptr), OCTET_OK);
  EXPECT_EQ(multiplier, 1 << 30);
  EXPECT_EQ(shift, 1);
}

TEST(QuantizeMultiplier, FollowsItsFormula) {
  for (int exponent = -40; exponent < 30; ++exponent)
    for (const double fraction : {0.5, 0.5 + 0x1p-32, 0.5 + 0x1p-31, 0.5 + 0x1.8p-31, 0.7,
                                  0.9999999, 1 - 0x1p-32, 1 - 0x1p-33, 1 - 0x1p-53}) {
      if (std::ldexp(fraction, exponent) > 0x1p30 - 1) continue;
      expect_multiplier(std::ldexp(fraction, exponent));
    }
  uint64_t state = 3;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    expect_multiplier(std::ldexp((double)(state >> 11) * 0x1p-53, (int)(state % 40) - 30));
  }
  expect_multiplier(0.0);
  expect_multiplier(std::numeric_limits<double>::denorm_min());
  expect_multiplier(std::numeric_limits<double>::min());
}

TEST(QuantizeMultiplier, RefusesWhatHasNoMultiplier) {
  int32_t multiplier, shift;
  const auto refused = [&](double factor, const char* why) {
    expect_refused(OCTET_BAD_SCALE, why, [&](octet_error* e) {
      return octet_quantize_multiplier(factor, &multiplier, &shift, e);
    });
  };
  for (const double factor : {-1.0, -0x1p-1074, HUGE_VAL, -HUGE_VAL, (double)NAN})
    refused(factor, "it must be finite and not negative");
  for (const double factor : {0x1p30, 1e300, std::numeric_limits<double>::max()})
    refused(factor, "it must be below 2^30");
  EXPECT_EQ(octet_quantize_multiplier(0x1.fffffffcp29, &multiplier, &shift, nullptr), OCTET_OK);
  expect_refused(OCTET_NULL_POINTER, "multiplier",
                 [&](octet_error* e) { return octet_quantize_multiplier(1, nullptr, &shift, e); });
  expect_refused(OCTET_NULL_POINTER, "shift", [&](octet_error* e) {
    return octet_quantize_multiplier(1, &multiplier, nullptr, e);
  });
}

class Tflite : public EachKernel {};
OCTET_FOR_EACH_KERNEL(Tflite);

// A fully connected layer as TFLite stores it: N x K weights, per-channel multipliers.
TEST_P(Tflite, FullyConnected) {
  for (const Types types : {Types{OCTET_S8, OCTET_S8}, {OCTET_U8, OCTET_U8}, {OCTET_S8, OCTET_S4}})
    for (const size_t m : {size_t{1}, kernel().mr + size_t{1}}) {
      if (!serves(kernel(), types)) continue;
      const octet_type type = types.lhs;
      GemmCase c;
      c.kernel = kernel().name;
      c.m = m, c.n = kernel().nr + 5u, c.k = 130;
      c.lhs = c.dst = type, c.rhs = types.rhs;
      c.order = OCTET_NK;
      c.lhs_zero_point = least(type) + 100;
      c.requant = OCTET_REQUANT_TFLITE;
      c.activation = OCTET_ACTIVATION_RELU6;
      check(c);
    }
}

}  // namespace
}  // namespace octet_test
