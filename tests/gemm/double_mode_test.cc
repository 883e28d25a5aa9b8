// SPDX-License-Identifier: Apache-2.0
// Checks what create refuses of double mode, of products and of convolutions.
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "octet/octet.h"
#include "support/refused.h"

namespace octet_test {
namespace {

constexpr size_t kN = 7;

// A product of run-time weights.
struct Product {
  std::vector<double> factors = std::vector<double>(kN, 0.01);
  const int32_t multiplier = 1 << 30, shift = 0;
  const float scale = 1;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;

  Product() {
    desc.m_max = 3, desc.n = kN, desc.k = 5;
    desc.lhs_type = desc.rhs_type = desc.dst_type = OCTET_S8;
    desc.epilogue.requant = OCTET_REQUANT_DOUBLE;
    desc.epilogue.factors = factors.data(), desc.epilogue.factor_count = kN;
  }
  octet_status create(octet_error* error) const {
    octet_gemm* gemm = nullptr;
    const octet_status status = octet_gemm_create(&desc, &gemm, error);
    octet_gemm_destroy(gemm);
    return status;
  }
};

void refuses(octet_status status, const char* argument, const std::function<void(Product&)>& edit) {
  Product p;
  edit(p);
  expect_refused(status, argument, [&](octet_error* error) { return p.create(error); });
}

TEST(DoubleMode, TakesOneFactorOrOneForEachColumn) {
  Product p;
  octet_error error = {};
  EXPECT_EQ(p.create(&error), OCTET_OK) << error.message;
  p.desc.epilogue.factor_count = 1;
  EXPECT_EQ(p.create(&error), OCTET_OK) << error.message;
}

TEST(DoubleMode, RefusesFactors) {
  refuses(OCTET_NULL_POINTER, "desc.epilogue.factors is null",
          [](Product& p) { p.desc.epilogue.factors = nullptr; });
  for (const size_t count : {size_t{0}, kN - 1, kN + 1})
    refuses(OCTET_BAD_SIZE, "desc.epilogue.factor_count",
            [&](Product& p) { p.desc.epilogue.factor_count = count; });
  for (const double factor : {0.0, -0.0, -1.0, std::nan(""), HUGE_VAL, 0x1.0000000000001p48})
    refuses(OCTET_BAD_SCALE, "desc.epilogue.factors[4]",
            [&](Product& p) { p.factors[4] = factor; });
}

// As a program of before double mode has it.
TEST(DoubleMode, AShorterStructHasNoFactors) {
  constexpr size_t kFactors =
      offsetof(octet_gemm_desc, epilogue) + offsetof(octet_epilogue, factors);
  refuses(OCTET_NULL_POINTER, "desc.epilogue.factors is null",
          [](Product& p) { p.desc.struct_size = kFactors; });
  refuses(OCTET_BAD_SIZE, "desc.epilogue.factor_count",
          [](Product& p) { p.desc.struct_size = kFactors + sizeof(void*); });
}

TEST(DoubleMode, RefusesWhatItDoesNotHave) {
  refuses(OCTET_UNSUPPORTED, "desc.epilogue.residual",
          [](Product& p) { p.desc.epilogue.residual = {OCTET_S8, 0, 1, 0, 0, 0, 0, 0, 0, 0}; });
  for (const octet_type dst : {OCTET_F32, OCTET_S32})
    refuses(OCTET_UNSUPPORTED, "OCTET_REQUANT_DOUBLE", [&](Product& p) { p.desc.dst_type = dst; });
  refuses(OCTET_UNSUPPORTED, "OCTET_LHS_STATIC",
          [](Product& p) { p.desc.lhs_quant = OCTET_LHS_PER_TENSOR; });
}

TEST(DoubleMode, RefusesTheScalesOfOtherModes) {
  refuses(OCTET_UNSUPPORTED, "desc.epilogue.scales is for OCTET_REQUANT_FLOAT",
          [](Product& p) { p.desc.epilogue.scales = &p.scale, p.desc.epilogue.scale_count = 1; });
  refuses(OCTET_UNSUPPORTED, "desc.epilogue.shifts are for OCTET_REQUANT_TFLITE", [](Product& p) {
    p.desc.epilogue.multipliers = &p.multiplier, p.desc.epilogue.shifts = &p.shift;
  });
  for (const octet_requant other : {OCTET_REQUANT_FLOAT, OCTET_REQUANT_TFLITE})
    refuses(OCTET_UNSUPPORTED, "desc.epilogue.factors is for OCTET_REQUANT_DOUBLE",
            [&](Product& p) { p.desc.epilogue.requant = other; });
}

}  // namespace
}  // namespace octet_test
