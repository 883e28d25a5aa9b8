// SPDX-License-Identifier: Apache-2.0
// Checks that the self-test finds s16 values that are split wrongly, and sums of their bytes that
// become other outputs than the contract's.
#include "dispatch/self_test/s16.h"

#include <cmath>

#include "dispatch/self_test/conv.h"
#include "dispatch/self_test/self_test.h"
#include "support/kernels.h"
#include "support/reference.h"

namespace octet_test {
namespace {

using octet::S16Cases;
using octet::S16Epilogue;
using octet::S16Mode;
using octet::S16Tile;

const octet::TierOps& scalar_ops() { return octet::ops_of(octet::TierId::kScalar); }

// ---- the cases themselves, against the tests' own reference

TEST(SelfTestS16, CasesAreWhatTheContractSays) {
  bool leaves_int32 = false, leaves_38_bits = false;
  for (const int shift : {0, octet::kWideShift, octet::kWidestShift}) {
    const S16Cases c(shift);
    for (size_t j = 0; j < octet::kS16TestColumns; ++j) {
      const int64_t tflite = multiply_s16(c.acc[j], c.multiplier[j] << 16, 15 - c.right[j]);
      EXPECT_EQ(c.tflite[j], clamped(tflite, octet::kS16Lo, octet::kS16Hi)) << j;
      EXPECT_EQ(c.factor[j], std::ldexp(c.multiplier[j], -c.right[j])) << j;
      const int64_t size = std::abs(c.acc[j]);
      EXPECT_LT(size, int64_t{1} << 47) << j;
      leaves_int32 |= size > INT32_MAX;
      leaves_38_bits |= size >= int64_t{1} << 38;
      if (shift == 0) {
        EXPECT_LE(size, INT32_MAX) << j;
      }
      if (shift == octet::kWidestShift) continue;
      EXPECT_LT(size, int64_t{1} << 38) << j;
      const double away = std::round((double)c.acc[j] * c.factor[j]);
      EXPECT_EQ(c.away[j], clamped((int64_t)away, octet::kS16Lo, octet::kS16Hi)) << j;
    }
  }
  EXPECT_TRUE(leaves_int32);
  EXPECT_TRUE(leaves_38_bits);
}

TEST(SelfTestS16, EachTierPasses) {
  for (const octet::TierId isa : usable_tiers())
    EXPECT_TRUE(octet::passes(octet::ops_of(isa))) << octet::isa_name(isa);
}

// ---- s16 values that are split otherwise

void swaps_halves(const octet::S16Row& row) {
  octet::S16Row other = row;
  other.high = row.low, other.low = row.high;
  scalar_ops().split_s16(other);
}
void forgets_the_high_flip(const octet::S16Row& row) {
  octet::S16Row other = row;
  other.high_flip = 0;
  scalar_ops().split_s16(other);
}
void forgets_the_low_flip(const octet::S16Row& row) {
  octet::S16Row other = row;
  other.low_flip = 0;
  scalar_ops().split_s16(other);
}
void forgets_the_last(const octet::S16Row& row) {
  scalar_ops().split_s16(row);
  row.low[row.depth - 1] ^= 1;
}

TEST(SelfTestS16, WrongSplitsAreFound) {
  for (const octet::SplitS16Fn split :
       {swaps_halves, forgets_the_high_flip, forgets_the_low_flip, forgets_the_last}) {
    octet::TierOps ops = scalar_ops();
    ops.split_s16 = split;
    EXPECT_FALSE(octet::passes(ops));
  }
}

// ---- kernels that multiply s16 values otherwise

const octet::MicroKernel* right_kernel;

void forgets_a_step(const octet::Tile& t) {
  octet::Tile other = t;
  --other.depth;
  right_kernel->multiply(other);
}
void forgets_a_row(const octet::Tile& t) {
  octet::Tile other = t;
  --other.rows;
  right_kernel->multiply(other);
}
void takes_taps_for_one(const octet::Tile& t) {
  octet::Tile other = t;
  const ptrdiff_t none = 0;
  other.tap_steps = &none;
  right_kernel->multiply(other);
}
void forgets_the_clamp(const octet::Tile& t) {
  octet::Tile other = t;
  octet::Requantization wide = {};
  if (t.scale) wide = *t.requantization, wide.hi = INT16_MAX;
  other.requantization = &wide;
  right_kernel->multiply(other);
}
void takes_tflite_for_float(const octet::Tile& t) {
  octet::Tile other = t;
  octet::Requantization in_float = {};
  if (t.scale) in_float = *t.requantization, in_float.tflite_apart = 0;
  other.requantization = &in_float;
  right_kernel->multiply(other);
}
void forgets_a_step_of_decoded_weights(const octet::Tile& t) {
  t.rhs_decoded ? forgets_a_step(t) : right_kernel->multiply(t);
}
void forgets_a_step_of_encoded_weights(const octet::Tile& t) {
  t.rhs_decoded ? right_kernel->multiply(t) : forgets_a_step(t);
}

TEST(SelfTestS16, WrongKernelsAreFound) {
  for (const octet::MicroKernel* kernel : octet::s16_kernels()) {
    if (!usable(*kernel)) continue;
    right_kernel = kernel;
    EXPECT_TRUE(octet::passes_s16(*right_kernel)) << right_kernel->name;
    for (const octet::MultiplyFn wrong :
         {forgets_a_step, forgets_a_row, takes_taps_for_one, forgets_the_clamp,
          takes_tflite_for_float, forgets_a_step_of_decoded_weights,
          forgets_a_step_of_encoded_weights}) {
      if (wrong == forgets_a_step_of_decoded_weights && !kernel->decoder.decode) continue;
      octet::MicroKernel other = *right_kernel;
      other.multiply = wrong;
      EXPECT_FALSE(octet::passes_s16(other));
      const octet::MicroKernel* const rows[] = {kernel, &other};
      const octet::CpuFeatures& cpu = octet::this_machine().cpu;
      EXPECT_EQ(octet::failing_s16_tiers({rows, 1}, cpu), 0u);
      EXPECT_EQ(octet::failing_s16_tiers({rows, 2}, cpu), octet::mask_of(kernel->tier_id));
    }
  }
}

// ---- sums that become other outputs

int64_t acc_of(const S16Tile& t, size_t j) {
  const int64_t offset = (int64_t)t.offset.in_double[j];
  if (!t.parts) return 256 * int64_t{t.high[j]} + t.low[j] + offset;
  int64_t sum = 0;
  for (size_t p = 0; p < t.parts; ++p) {
    const int64_t part = t.low[p * t.parts_stride + j];
    sum += part == INT32_MIN ? -part : part;
  }
  return sum + offset;
}

// The scaled accumulator before the clamp.
using ScaleFn = double (*)(const S16Epilogue& f, size_t j, int64_t acc);

// The mode's outputs by `scale`, in int32 and in double.
template <S16Mode mode, ScaleFn scale>
void finishes_otherwise(const S16Epilogue& f, const S16Tile& t) {
  if (f.mode != mode) return scalar_ops().finish_s16(f, t);
  for (size_t i = 0; i < t.rows; ++i)
    for (size_t j = 0; j < t.cols; ++j) {
      const double value = scale(f, j, acc_of(t, j));
      uint8_t* const dst = t.dst + i * t.dst_stride;
      if (mode == S16Mode::kF32)
        ((float*)dst)[j] = (float)value;
      else
        ((int16_t*)dst)[j] = (int16_t)std::min(std::max(value, (double)f.lo), (double)f.hi);
    }
}

double product(const S16Epilogue& f, size_t j, int64_t acc) { return (double)acc * f.factor[j]; }
double halves_up(const S16Epilogue& f, size_t j, int64_t acc) {
  return std::floor(product(f, j, acc) + 0.5);
}
double halves_away(const S16Epilogue& f, size_t j, int64_t acc) {
  return std::round(product(f, j, acc));
}
double halves_even(const S16Epilogue& f, size_t j, int64_t acc) {
  return std::nearbyint(product(f, j, acc));
}
double truncates(const S16Epilogue& f, size_t j, int64_t acc) {
  return std::trunc(product(f, j, acc));
}
double in_32_bits(const S16Epilogue& f, size_t j, int64_t acc) {
  return halves_up(f, j, (int32_t)(uint32_t)acc);
}
float scaled(const S16Epilogue& f, size_t j, int64_t acc) {
  return fl((double)fl((double)acc) * f.scale[j]);
}
double float_even(const S16Epilogue& f, size_t j, int64_t acc) {
  return (double)round_half_even(scaled(f, j, acc));
}
double float_away(const S16Epilogue& f, size_t j, int64_t acc) {
  return std::round(scaled(f, j, acc));
}
double f32_sum(const S16Epilogue& f, size_t j, int64_t acc) {
  return fl((double)scaled(f, j, acc) + f.bias_f32[j]);
}
double f32_exact(const S16Epilogue& f, size_t j, int64_t acc) {
  return fl((double)fl((double)acc * f.scale[j]) + f.bias_f32[j]);
}
double f32_fused(const S16Epilogue& f, size_t j, int64_t acc) {
  return std::fma(fl((double)acc), f.scale[j], f.bias_f32[j]);
}

// Takes the most that a part may be for the least.
void wraps_parts(const S16Epilogue& f, const S16Tile& t) {
  double offset[octet::kS16TestColumns];
  for (size_t j = 0; j < octet::kS16TestColumns; ++j) {
    offset[j] = t.offset.in_double[j];
    for (size_t p = 0; p < t.parts; ++p)
      if (t.low[p * t.parts_stride + j] == INT32_MIN) offset[j] -= 4294967296.0;
  }
  S16Tile other = t;
  other.offset.in_double = offset;
  scalar_ops().finish_s16(f, other);
}

template <S16Mode mode, bool in_int32>
void off_by_one(const S16Epilogue& f, const S16Tile& t) {
  scalar_ops().finish_s16(f, t);
  if (f.mode == mode && (t.offset.in_int32 != nullptr) == in_int32)
    ++t.dst[(t.rows - 1) * t.dst_stride + (t.cols - 1) * f.dst_bytes()];
}

TEST(SelfTestS16, OutputsThatAreOtherThanTheContractsAreFound) {
  constexpr S16Mode kFloat = S16Mode::kFloat, kTflite = S16Mode::kTflite,
                    kWidest = S16Mode::kTfliteWidest, kDouble = S16Mode::kDouble,
                    kF32 = S16Mode::kF32;
  const struct {
    const char* what;
    octet::FinishS16Fn finish;
    bool right;
  } kFinishes[] = {
      {"TFLite mode by its contract", finishes_otherwise<kTflite, halves_up>, true},
      {"TFLite mode, halves away", finishes_otherwise<kTflite, halves_away>, false},
      {"TFLite mode, halves to even", finishes_otherwise<kTflite, halves_even>, false},
      {"TFLite mode, truncated", finishes_otherwise<kTflite, truncates>, false},
      {"TFLite mode in 32 bits", finishes_otherwise<kTflite, in_32_bits>, false},
      {"TFLite mode in double", finishes_otherwise<kWidest, halves_even>, false},
      {"double mode by its contract", finishes_otherwise<kDouble, halves_away>, true},
      {"double mode, halves up", finishes_otherwise<kDouble, halves_up>, false},
      {"double mode, halves to even", finishes_otherwise<kDouble, halves_even>, false},
      {"float mode by its contract", finishes_otherwise<kFloat, float_even>, true},
      {"float mode, halves away", finishes_otherwise<kFloat, float_away>, false},
      {"f32 by its contract", finishes_otherwise<kF32, f32_sum>, true},
      {"f32, exact accumulators", finishes_otherwise<kF32, f32_exact>, false},
      {"f32, fused", finishes_otherwise<kF32, f32_fused>, false},
      {"parts that wrap", wraps_parts, false},
      {"TFLite mode of int32, off by one", off_by_one<kTflite, true>, false},
      {"TFLite mode of double, off by one", off_by_one<kTflite, false>, false},
      {"TFLite mode of 48 bits, off by one", off_by_one<kWidest, false>, false},
      {"double mode of int32, off by one", off_by_one<kDouble, true>, false},
      {"double mode of double, off by one", off_by_one<kDouble, false>, false},
      {"float mode of int32, off by one", off_by_one<kFloat, true>, false},
      {"float mode of double, off by one", off_by_one<kFloat, false>, false},
      {"f32 of int32, off by one", off_by_one<kF32, true>, false},
      {"f32 of double, off by one", off_by_one<kF32, false>, false},
  };
  for (const auto& f : kFinishes) {
    octet::TierOps ops = scalar_ops();
    ops.finish_s16 = f.finish;
    EXPECT_EQ(octet::passes(ops), f.right) << f.what;
  }
}

}  // namespace
}  // namespace octet_test
