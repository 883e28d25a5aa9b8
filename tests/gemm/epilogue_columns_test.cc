// SPDX-License-Identifier: Apache-2.0
// Checks each tier's epilogue at the ends of a product's arrays and at a zero's sign.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "dispatch/tables/kernels.h"
#include "support/guarded.h"
#include "support/kernels.h"

namespace octet_test {
namespace {

using octet::ElementType;
using octet::Epilogue;
using octet::EpilogueMode;
using octet::EpilogueTile;

// create pads the arrays of an Epilogue to this many columns.
constexpr size_t kColumns = 64, kRows = 5;

class EpilogueColumns : public testing::TestWithParam<octet::TierId> {
 protected:
  const octet::TierOps& ops() const { return octet::ops_of(GetParam()); }
};

// The last micro-panel of each kernel, whole and in part. Accumulators of 0 make the zero point.
TEST_P(EpilogueColumns, ReadNothingBehindTheArrays) {
  const Guarded scale(std::vector<float>(kColumns, 0.5f), Side::kBack),
      bias(std::vector<float>(kColumns, 1.25f), Side::kBack),
      multiplier(std::vector<int32_t>(kColumns, 1 << 30), Side::kBack),
      shift(std::vector<int32_t>(kColumns, 0), Side::kBack),
      factor(std::vector<double>(kColumns, 0.5), Side::kBack);
  const std::vector<int32_t> acc(kRows * kColumns, 0);
  for (const octet::MicroKernel* kernel : octet::int8_kernels()) {
    if (kernel->tier_id != GetParam() || kColumns % kernel->nr) continue;
    const size_t column = kColumns - kernel->nr;
    for (size_t cols = 1; cols <= kernel->nr; ++cols) {
      for (const EpilogueMode mode : {EpilogueMode::kF32, EpilogueMode::kFloat8,
                                      EpilogueMode::kTflite8, EpilogueMode::kDouble8}) {
        Epilogue f = {};
        f.mode = mode;
        f.dst_type = ElementType::kU8;
        f.scale = scale.data<float>(), f.bias_f32 = bias.data<float>();
        f.multiplier = multiplier.data<int32_t>(), f.shift = shift.data<int32_t>();
        f.factor = factor.data<double>();
        f.zero_point = 7, f.hi = 255;
        f.lo_f32 = mode == EpilogueMode::kF32 ? -1e9f : -7.0f;
        f.hi_f32 = mode == EpilogueMode::kF32 ? 1e9f : 248.0f;
        const size_t element = mode == EpilogueMode::kF32 ? sizeof(float) : 1;
        const Guarded out(kRows * cols * element, Side::kBack);
        const octet::Output to = {out.data(), cols * element, nullptr, 0};
        ops().epilogue(f, {acc.data(), kernel->nr, kRows, cols, column, nullptr, to});
        for (size_t i = 0; i < kRows * cols; ++i) {
          if (mode == EpilogueMode::kF32)
            ASSERT_EQ(out.data<float>()[i], 1.25f) << kernel->name << ' ' << cols;
          else
            ASSERT_EQ(out.data()[i], 7) << kernel->name << ' ' << cols << " mode " << (int)mode;
        }
      }
    }
  }
}

TEST_P(EpilogueColumns, FloatsWithoutABiasKeepTheSignOfZero) {
  const std::vector<float> scale(kColumns, 1e-30f), row_scale(kRows, 1e-30f);  // their product is 0
  const std::vector<int32_t> acc(kRows * kColumns, -1);
  Epilogue f = {};
  f.mode = EpilogueMode::kF32;
  f.scale = scale.data();
  f.lo_f32 = -std::numeric_limits<float>::infinity();
  f.hi_f32 = -f.lo_f32;
  for (size_t cols = 1; cols <= kColumns; ++cols) {
    std::vector<float> out(kRows * cols, 1);
    const octet::Output to = {(uint8_t*)out.data(), cols * sizeof(float), nullptr, 0};
    ops().epilogue(f, {acc.data(), kColumns, kRows, cols, 0, row_scale.data(), to});
    for (const float value : out) {
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      ASSERT_EQ(bits, 0x80000000u) << cols << " columns";
    }
  }
}

OCTET_FOR_EACH_TIER(EpilogueColumns);

}  // namespace
}  // namespace octet_test
