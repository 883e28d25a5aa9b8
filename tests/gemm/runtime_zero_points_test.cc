// SPDX-License-Identifier: Apache-2.0
// Checks zero points that come with run-time weights: create does not know them, and they double
// the range of values.
#include "support/guarded.h"
#include "support/kernels.h"
#include "support/refused.h"

namespace octet_test {
namespace {

// One row times one column; every product is 255 * 255 with the zero point of the run, 255 * 127
// without.
class Product {
 public:
  static constexpr size_t kDepth = 4;
  static constexpr int64_t kKnown = kDepth * 255 * 128, kReached = kDepth * 255 * 255;

  explicit Product(const octet_gemm_desc& fields) {
    octet_gemm_desc d = fields;
    d.m_max = d.n = 1, d.k = kDepth;
    d.lhs_type = OCTET_U8, d.rhs_type = OCTET_S8, d.dst_type = OCTET_U8;
    octet_error error = {};
    EXPECT_EQ(octet_gemm_create(&d, &gemm_, &error), OCTET_OK) << error.message;
    size_t bytes = 0;
    EXPECT_EQ(octet_gemm_workspace(gemm_, 1, 1, &bytes, &error), OCTET_OK) << error.message;
    workspace_ = Guarded(bytes, Side::kBack, OCTET_ALIGNMENT);
  }
  ~Product() { octet_gemm_destroy(gemm_); }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  octet_status run(uint8_t* dst, octet_error* error) const {
    static const uint8_t lhs[kDepth] = {255, 255, 255, 255}, rhs[kDepth] = {127, 127, 127, 127};
    static const int32_t zero_point = -128;
    octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
    args.m = 1, args.lhs = lhs, args.rhs = rhs, args.dst = dst;
    args.rhs_zero_points = &zero_point, args.rhs_zero_point_count = 1;
    args.workspace = workspace_.data(), args.workspace_bytes = workspace_.bytes();
    return octet_gemm_run(gemm_, &args, error);
  }

 private:
  octet_gemm* gemm_ = nullptr;
  Guarded workspace_;
};

class RuntimeZeroPoints : public EachKernel {};
OCTET_FOR_EACH_KERNEL(RuntimeZeroPoints);

// A kernel skips the clamp only if no scaled accumulator exceeds its integers.
TEST_P(RuntimeZeroPoints, SaturateBeyondWhatWeightsAloneReach) {
  if (!serves(kernel(), {OCTET_U8, OCTET_S8}) || !takes_any_weights(kernel())) return;
  for (const double limit : {2147483648.0, 32767.0}) {
    const float scale = (float)(0.999 * limit / Product::kKnown);
    octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
    d.kernel = kernel().name;
    d.epilogue.scales = &scale, d.epilogue.scale_count = 1;
    uint8_t dst = 0;
    octet_error error = {};
    ASSERT_EQ(Product(d).run(&dst, &error), OCTET_OK) << error.message;
    EXPECT_EQ(dst, 255) << "limit " << limit;
  }
}

TEST(RuntimeZeroPointsOfTflite, LeaveRoomForTflitesLeftShift) {
  const int32_t multiplier = 1 << 30;
  for (const int32_t shift : {12, 13, 14}) {
    ASSERT_LE(Product::kKnown << shift, INT32_MAX);
    octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
    d.epilogue.requant = OCTET_REQUANT_TFLITE;
    d.epilogue.multipliers = &multiplier, d.epilogue.shifts = &shift,
    d.epilogue.multiplier_count = 1;
    const Product product(d);
    uint8_t dst = 7;
    if (Product::kReached << shift <= INT32_MAX) {
      EXPECT_EQ(product.run(&dst, nullptr), OCTET_OK);
      EXPECT_EQ(dst, 255);
      continue;
    }
    expect_refused(OCTET_ACCUMULATOR_OVERFLOW, "args.rhs_zero_points",
                   [&](octet_error* e) { return product.run(&dst, e); });
    EXPECT_EQ(dst, 7);
  }
}

}  // namespace
}  // namespace octet_test
