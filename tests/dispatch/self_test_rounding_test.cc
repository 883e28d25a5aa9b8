// SPDX-License-Identifier: Apache-2.0
// Checks that the self-test finds code that rounds otherwise than the contract, as compilers, CPUs
// and emulators might.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>

#include "dispatch/self_test/cases.h"
#include "dispatch/self_test/conv.h"
#include "dispatch/self_test/self_test.h"
#include "dispatch/tables/transforms.h"
#include "support/kernels.h"
#include "support/reference.h"

namespace octet_test {
namespace {

using octet::Accumulators;
using octet::DepthwiseKernel;
using octet::Epilogue;
using octet::EpilogueMode;
using octet::EpilogueTile;
using octet::FloatCases;
using octet::Requantization;

const octet::CpuFeatures& cpu() {
  static const octet::CpuFeatures features = octet::this_machine().cpu;
  return features;
}

const octet::TierOps& scalar_ops() { return octet::ops_of(octet::TierId::kScalar); }

// ---- the cases themselves, against the tests' own reference

void check_float_cases(const FloatCases& c) {
  for (size_t i = 0; i < octet::kCases; ++i) {
    const float scale = c.scale[i % octet::kTileColumns];
    const auto byte_of = [&](const Requantization& n, float residual) {
      return (uint8_t)requantize(c.acc[i], scale, residual, n.zero_point, n.lo, n.hi);
    };
    ASSERT_EQ(c.u8[i], byte_of(octet::kRequantizeU8, 0)) << i;
    ASSERT_EQ(c.s8[i], byte_of(octet::kRequantizeS8, 0)) << i;
    if (i >= octet::kTileColumns) continue;
    const float product = fl((double)((float)c.acc[i]) * scale);
    ASSERT_EQ(c.rounded[i], round_half_even(product)) << i;
    const double steps = c.residual[i] - octet::kResidualZeroPoint;
    ASSERT_EQ(c.sum[i], byte_of(octet::kRequantizeU8, fl(steps * octet::kResidualScale))) << i;
    ASSERT_EQ(c.f32[i], fl((double)product + c.bias[i])) << i;
  }
}

void check_tflite_cases(const Requantization& n) {
  const octet::TfliteCases c(n);
  for (size_t j = 0; j < octet::kTileColumns; ++j) {
    const int32_t scaled = multiply_by_quantized_multiplier(c.acc[j], c.multiplier[j], c.shift[j]);
    ASSERT_EQ(c.bytes[j], (uint8_t)clamped(scaled + n.zero_point, n.lo, n.hi)) << j;
    ASSERT_LT(std::abs(std::ldexp(c.acc[j], std::max(c.shift[j], 0))), 0x1p30) << j;
  }
}

TEST(SelfTestCases, AreWhatTheContractSays) {
  check_float_cases(FloatCases(Accumulators::kAll));
  check_float_cases(FloatCases(Accumulators::kInt16));
  for (const Requantization& n :
       {octet::kTfliteS8, octet::kTfliteFloats, octet::kTfliteFloatsUp, octet::kTflitePlainRelu})
    check_tflite_cases(n);
  const octet::TfliteCases tflite(octet::kTfliteS8), plain_relu(octet::kTflitePlainRelu);
  for (size_t j = octet::kTfliteRightFrom; j < octet::kTileColumns; ++j) {
    ASSERT_LT(tflite.shift[j], 0) << j;
    ASSERT_LT(plain_relu.shift[j], 0) << j;
  }
}

// `create` certifies these bounds before a kernel requantizes, so every case suits every kernel.
TEST(SelfTestCases, KeepToWhatKernelsRequantize) {
  const FloatCases all(Accumulators::kAll), int16(Accumulators::kInt16);
  for (size_t i = 0; i < octet::kCases; ++i) {
    const double scale = all.scale[i % octet::kTileColumns];
    EXPECT_LT(std::abs(all.acc[i] * scale), 2147483648.0) << i;
    EXPECT_LT(std::abs(int16.acc[i] * scale), 32767.0) << i;
  }
}

// ---- epilogues that round otherwise

using FloatFn = float (*)(int32_t acc, float scale, float added);  // the value before it is rounded
using RoundFn = double (*)(double);

float by_the_contract(int32_t acc, float scale, float added) {
  return fl((double)((float)acc) * scale) + added;
}
double half_even(double x) { return (double)round_half_even(x); }

// An epilogue whose floats are computed by `sum` and rounded by `round`.
template <FloatFn sum, RoundFn round>
void epilogue_otherwise(const Epilogue& f, const EpilogueTile& t) {
  if (f.mode == EpilogueMode::kTflite8 || f.mode == EpilogueMode::kDouble8)
    return scalar_ops().epilogue(f, t);
  for (size_t i = 0; i < t.rows; ++i)
    for (size_t j = 0; j < t.cols; ++j) {
      const int32_t acc = t.acc[i * t.acc_stride + j];
      uint8_t* const dst = t.to.dst + i * t.to.stride;
      if (f.mode == EpilogueMode::kF32) {
        const float value = sum(acc, f.scale[j], f.bias_f32[j]);
        std::memcpy(dst + 4 * j, &value, sizeof value);
        continue;
      }
      const float steps = f.has_residual ? (float)(t.to.residual[j] - f.residual_zero_point) : 0;
      const double value = sum(acc, f.scale[j], fl((double)steps * f.residual_scale));
      dst[j] = (uint8_t)clamped((int64_t)round(value) + f.zero_point, f.lo, f.hi);
    }
}

float fused(int32_t acc, float scale, float added) { return std::fma((float)acc, scale, added); }
float exact_accumulator(int32_t acc, float scale, float added) {
  return fl((double)acc * scale) + added;
}
double truncated(double x) { return std::trunc(x); }
double half_up(double x) { return std::floor(x + 0.5); }

// The product is not rounded to float, as on x87.
void epilogue_wide(const Epilogue& f, const EpilogueTile& t) {
  for (size_t i = 0; i < t.rows; ++i)
    for (size_t j = 0; j < t.cols; ++j) {
      const double value = (double)((float)t.acc[i * t.acc_stride + j]) * f.scale[j];
      t.to.dst[i * t.to.stride + j] =
          (uint8_t)clamped(round_half_even(value) + f.zero_point, f.lo, f.hi);
    }
}

// The other product of the residual's sum becomes a part of an FMA.
void epilogue_fused_residual(const Epilogue& f, const EpilogueTile& t) {
  if (!f.has_residual) return epilogue_otherwise<by_the_contract, half_even>(f, t);
  for (size_t j = 0; j < t.cols; ++j) {
    const float product = by_the_contract(t.acc[j], f.scale[j], 0);
    const float value =
        std::fma((float)(t.to.residual[j] - f.residual_zero_point), f.residual_scale, product);
    t.to.dst[j] = (uint8_t)clamped(round_half_even(value) + f.zero_point, f.lo, f.hi);
  }
}

// TFLite's scale: acc * multiplier / 2^31 / 2^right, rounded.
using TfliteFn = int64_t (*)(int64_t product, int right);
int64_t up(int64_t x, int exponent) { return (x + (int64_t{1} << exponent) / 2) >> exponent; }
int64_t away(int64_t x, int exponent) { return x < 0 ? -up(-x, exponent) : up(x, exponent); }

int64_t halves_up(int64_t product, int right) { return up(up(product, 31), right); }
int64_t halves_away(int64_t product, int right) { return away(away(product, 31), right); }
int64_t once_up(int64_t product, int right) { return up(product, 31 + right); }
int64_t once_away(int64_t product, int right) { return away(product, 31 + right); }
int64_t as_tflite(int64_t product, int right) { return away(up(product, 31), right); }

template <TfliteFn scaled>
void epilogue_tflite_otherwise(const Epilogue& f, const EpilogueTile& t) {
  if (f.mode != EpilogueMode::kTflite8) return epilogue_otherwise<by_the_contract, half_even>(f, t);
  for (size_t i = 0; i < t.rows; ++i)
    for (size_t j = 0; j < t.cols; ++j) {
      const int left = std::max(f.shift[j], 0), right = left - f.shift[j];
      const int64_t acc = t.acc[i * t.acc_stride + j] * (int64_t{1} << left);
      const int64_t value = scaled(acc * f.multiplier[j], right);
      t.to.dst[i * t.to.stride + j] = (uint8_t)clamped(value + f.zero_point, f.lo, f.hi);
    }
}

using DoubleFn = double (*)(int32_t acc, double factor);
double in_double(int32_t acc, double factor) { return acc * factor; }
double in_float(int32_t acc, double factor) { return (double)((float)acc * fl(factor)); }

template <DoubleFn product, RoundFn round>
void epilogue_double_otherwise(const Epilogue& f, const EpilogueTile& t) {
  if (f.mode != EpilogueMode::kDouble8) return scalar_ops().epilogue(f, t);
  for (size_t j = 0; j < t.cols; ++j) {
    const double value = round(product(t.acc[j], f.factor[j]));
    t.to.dst[j] = (uint8_t)clamped((int64_t)value + f.zero_point, f.lo, f.hi);
  }
}

template <EpilogueMode mode, bool residual>
void epilogue_off_by_one(const Epilogue& f, const EpilogueTile& t) {
  scalar_ops().epilogue(f, t);
  if (f.mode == mode && f.has_residual == residual)
    ++t.to.dst[(t.rows - 1) * t.to.stride + (t.cols - 1) * (mode == EpilogueMode::kF32 ? 4 : 1)];
}

TEST(SelfTestEpilogue, OneThatRoundsOtherwiseIsFound) {
  const struct {
    const char* what;
    octet::EpilogueFn epilogue;
    bool right;
  } kEpilogues[] = {
      {"by the contract", epilogue_otherwise<by_the_contract, half_even>, true},
      {"a product and a sum are fused", epilogue_otherwise<fused, half_even>, false},
      {"the residual's product and the sum are fused", epilogue_fused_residual, false},
      {"accumulators do not round to floats", epilogue_otherwise<exact_accumulator, half_even>,
       false},
      {"products do not round to floats", epilogue_wide, false},
      {"rounds towards zero", epilogue_otherwise<by_the_contract, truncated>, false},
      {"rounds halves away from zero", epilogue_otherwise<by_the_contract, round_half_away>, false},
      {"rounds halves up", epilogue_otherwise<by_the_contract, half_up>, false},
      {"TFLite's steps by its contract", epilogue_tflite_otherwise<as_tflite>, true},
      {"TFLite's division rounds halves up", epilogue_tflite_otherwise<halves_up>, false},
      {"TFLite's product rounds halves away", epilogue_tflite_otherwise<halves_away>, false},
      {"TFLite rounds once, halves up", epilogue_tflite_otherwise<once_up>, false},
      {"TFLite rounds once, halves away", epilogue_tflite_otherwise<once_away>, false},
      {"float mode", epilogue_off_by_one<EpilogueMode::kFloat8, false>, false},
      {"float mode with a residual", epilogue_off_by_one<EpilogueMode::kFloat8, true>, false},
      {"f32", epilogue_off_by_one<EpilogueMode::kF32, false>, false},
      {"TFLite mode", epilogue_off_by_one<EpilogueMode::kTflite8, false>, false},
      {"double mode by its contract", epilogue_double_otherwise<in_double, round_half_away>, true},
      {"double mode rounds halves up", epilogue_double_otherwise<in_double, half_up>, false},
      {"double mode rounds halves to even", epilogue_double_otherwise<in_double, half_even>, false},
      {"double mode computes in float", epilogue_double_otherwise<in_float, round_half_away>,
       false},
  };
  for (const auto& f : kEpilogues) {
    octet::TierOps ops = scalar_ops();
    ops.epilogue = f.epilogue;
    EXPECT_EQ(octet::passes(ops), f.right) << f.what;
  }
}

const octet::TierOps* honest_ops;
void sums_wrongly(const Epilogue& f, const EpilogueTile& t) {
  honest_ops->epilogue(f, t);
  if (f.tflite_add) ++t.to.dst[t.cols - 1];
}
void looks_up_wrongly(const Epilogue& f, const EpilogueTile& t) {
  Epilogue without = f;
  without.lut = nullptr;
  honest_ops->epilogue(without, t);
}

TEST(SelfTestExits, SumsOfBytesAndTablesThatAreWrongAreFound) {
  for (const octet::TierId isa : usable_tiers()) {
    honest_ops = &octet::ops_of(isa);
    octet::TierOps ops = *honest_ops;
    EXPECT_TRUE(octet::passes(ops));
    if (!ops.find_tflite_add) continue;
    for (const octet::EpilogueFn epilogue : {sums_wrongly, looks_up_wrongly}) {
      ops.epilogue = epilogue;
      EXPECT_FALSE(octet::passes(ops)) << octet::isa_name(isa);
    }
  }
}

// ---- rows of f32

template <RoundFn round>
void quantize_otherwise(const octet::FloatRows& rows, bool asymmetric, uint8_t* out, size_t stride,
                        float* scales, int32_t* zero_points) {
  scalar_ops().quantize_rows(rows, asymmetric, out, stride, scales, zero_points);
  for (size_t i = 0; i < rows.rows; ++i)
    for (size_t k = 0; k < rows.depth; ++k)
      out[i * stride + k] =
          (uint8_t)((int)round(rows.data[i * rows.stride + k] / scales[i]) + zero_points[i]);
}
void quantize_off_zero_point(const octet::FloatRows& rows, bool asymmetric, uint8_t* out,
                             size_t stride, float* scales, int32_t* zero_points) {
  scalar_ops().quantize_rows(rows, asymmetric, out, stride, scales, zero_points);
  for (size_t i = 0; i < rows.rows; ++i) zero_points[i] += asymmetric;
}

TEST(SelfTestRows, OnesThatRoundOtherwiseAreFound) {
  const struct {
    octet::QuantizeRowsFn quantize;
    bool right;
  } kQuantizes[] = {{quantize_otherwise<half_even>, true},
                    {quantize_otherwise<truncated>, false},
                    {quantize_otherwise<round_half_away>, false},
                    {quantize_otherwise<half_up>, false},
                    {quantize_off_zero_point, false}};
  for (const auto& q : kQuantizes) {
    octet::TierOps ops = scalar_ops();
    ops.quantize_rows = q.quantize;
    EXPECT_EQ(octet::passes(ops), q.right) << &q - kQuantizes;
  }
}

// ---- kernels that requantize: the last byte of the last row is off by one

const MicroKernel* honest;
size_t lying_rows;  // rows of the wrong tile
void lies_requantized(const octet::Tile& t) {
  honest->multiply(t);
  if (t.scale && t.rows == lying_rows)
    ++((uint8_t*)t.dst)[(t.rows - 1) * t.dst_stride + t.cols - 1];
}

class SelfTestExit : public EachKernel {};
OCTET_FOR_EACH_KERNEL(SelfTestExit);

// Off by one in the last bit of a float, or by forgetting the rows' scales.
template <octet::MultiplyFn MicroKernel::*multiply>
void lies_in_floats(const octet::Tile& t) {
  (honest->*multiply)(t);
  if (t.scale && t.requantization->to_floats) ++((uint32_t*)t.dst)[t.cols - 1];
}
void forgets_row_scales(const octet::Tile& t) {
  octet::Tile without = t;
  without.row_scale = nullptr;
  honest->multiply(without);
}

TEST_P(SelfTestExit, OneThatConvertsToFloatsWronglyIsFound) {
  if (!kernel().is(octet::kStoresFloats)) GTEST_SKIP() << "floats are left to the epilogue";
  honest = &kernel();
  MicroKernel liar = kernel();
  for (const octet::MultiplyFn multiply :
       {lies_in_floats<&MicroKernel::multiply>, forgets_row_scales}) {
    liar.multiply = multiply;
    EXPECT_FALSE(octet::passes(liar));
  }
  liar = kernel();
  liar.multiply_micro_panel = lies_in_floats<&MicroKernel::multiply_micro_panel>;
  EXPECT_FALSE(liar.micro_panel.taps && octet::passes(liar));
}

TEST_P(SelfTestExit, OneThatRequantizesWronglyIsFound) {
  if (!kernel().is(octet::kRequantizes))
    GTEST_SKIP() << kernel().name << " leaves requantizing to the epilogue";
  honest = &kernel();
  MicroKernel liar = kernel();
  liar.multiply = lies_requantized;
  for (const size_t rows : {size_t{liar.mr}, size_t{liar.tall_mr}}) {
    if (!rows) continue;
    lying_rows = rows;
    EXPECT_FALSE(octet::passes(liar)) << rows << " rows";
  }
}

void lies_in_micro_panels(const octet::Tile& t) {
  honest->multiply_micro_panel(t);
  if (t.scale) ++((uint8_t*)t.dst)[(t.rows - 1) * t.dst_stride + t.cols - 1];
}

TEST_P(SelfTestExit, OneThatRequantizesMicroPanelsWronglyIsFound) {
  if (!kernel().multiply_micro_panel) GTEST_SKIP() << kernel().name << " takes tile by tile";
  honest = &kernel();
  MicroKernel liar = kernel();
  liar.multiply_micro_panel = lies_in_micro_panels;
  EXPECT_TRUE(octet::passes(kernel()));
  EXPECT_FALSE(octet::passes(liar));
}

// Winograd's outputs that round: the requantized ones and the approximate one.
const octet::WinogradOps* honest_transforms;
size_t lying_variant;
bool lying_requantize;
template <size_t variant>
void lies_output(const octet::WinogradOutput& o) {
  honest_transforms->output[variant](o);
  if (variant != lying_variant || (o.scale != nullptr) != lying_requantize) return;
  uint8_t* const last = (uint8_t*)o.dst + (o.height - 1) * o.dst_line + (o.width - 1) * o.dst_pixel;
  ++last[(o.cols - 1) * (o.scale ? 1 : 4)];
}

class SelfTestWinograd : public EachKernel {};
INSTANTIATE_TEST_SUITE_P(, SelfTestWinograd, testing::ValuesIn(int16_table()), kernel_name);

TEST_P(SelfTestWinograd, AnOutputThatRoundsWronglyIsFound) {
  honest_transforms = &octet::transforms_of(kernel().tier_id);
  octet::WinogradOps ops = *honest_transforms;
  ops.output[0] = lies_output<0>;
  ops.output[1] = lies_output<1>;
  ops.output[2] = lies_output<2>;
  ops.output[3] = lies_output<3>;
  lying_variant = (size_t)octet::Winograd::k2x2Int8;
  lying_requantize = false;
  EXPECT_FALSE(octet::passes(ops, 0));
  if (!kernel().is(octet::kRequantizes)) return;
  lying_requantize = true;
  for (lying_variant = 0; lying_variant < octet::kWinogradVariants; ++lying_variant)
    EXPECT_FALSE(octet::passes(ops, kernel().flags)) << "variant " << lying_variant;
}

const DepthwiseKernel* honest_depthwise;
octet::DepthwiseLoop lying_depthwise;
void lies_depthwise(const octet::DepthwiseTile& t) {
  honest_depthwise->multiply(t);
  uint8_t* const last = t.dst + (t.rows - 1) * t.dst_line + (t.columns - 1) * t.dst_pixel;
  if (t.requantization && t.loop == lying_depthwise) ++last[honest_depthwise->channels - 1];
}

TEST(SelfTestDepthwise, OnesThatRequantizeWronglyAreFound) {
  std::vector<const DepthwiseKernel*> kernels;
  for (const DepthwiseKernel* kernel : octet::depthwise_kernels())
    for (const DepthwiseKernel* each : {kernel, kernel->s16})
      if (each && octet::supports(cpu(), *each) && (each->flags & octet::kRequantizes))
        kernels.push_back(each);
  for (const DepthwiseKernel* kernel : kernels) {
    honest_depthwise = kernel;
    DepthwiseKernel liar = *kernel;
    liar.multiply = lies_depthwise;
    for (const octet::DepthwiseLoop loop : octet::kDepthwiseLoops) {
      if (!octet::knows(*kernel, loop)) continue;
      lying_depthwise = loop;
      EXPECT_FALSE(octet::passes(liar)) << kernel->name;
    }
  }
}

// Off by one in the last bit of a float, or by forgetting the lhs's scale.
void lies_depthwise_in_floats(const octet::DepthwiseTile& t) {
  honest_depthwise->multiply(t);
  if (t.requantization && t.requantization->to_floats)
    ++((uint32_t*)t.dst)[honest_depthwise->channels - 1];
}
void forgets_lhs_scale(const octet::DepthwiseBlock& block, void* prepared) {
  octet::DepthwiseBlock without = block;
  without.lhs_scale = 1;
  honest_depthwise->prepare(without, prepared);
}

TEST(SelfTestDepthwise, OnesThatConvertToFloatsWronglyAreFound) {
  for (const DepthwiseKernel* kernel : octet::depthwise_kernels()) {
    if (!octet::supports(cpu(), *kernel) || !(kernel->flags & octet::kStoresFloats)) continue;
    honest_depthwise = kernel;
    DepthwiseKernel liar = *kernel;
    liar.multiply = lies_depthwise_in_floats;
    EXPECT_FALSE(octet::passes(liar)) << kernel->name;
    liar = *kernel;
    liar.prepare = forgets_lhs_scale;
    EXPECT_FALSE(octet::passes(liar)) << kernel->name;
  }
}

// ---- the thread's rounding mode

// The mode is not the tier's fault: steps that round are skipped, others are tested.
TEST(SelfTestRounding, NobodyIsBlamedForTheThreadsMode) {
  ASSERT_TRUE(octet::rounds_to_nearest());
  const MicroKernel& scalar = *octet::find(octet::int8_kernels(), "scalar_u8s8_4x4x4");
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    const bool nearest = octet::rounds_to_nearest();
    const octet::TierMask bytes = octet::failing_tiers(octet::int8_kernels(), cpu());
    const octet::TierMask s16 = octet::failing_int16_tiers(octet::int16_kernels(), cpu());
    const octet::TierMask depthwise = octet::failing_tiers(octet::depthwise_kernels(), cpu());
    MicroKernel liar = scalar;
    liar.multiply = [](const octet::Tile& t) { *(int32_t*)t.dst = 1; };
    const bool passes = octet::passes(liar);
    std::fesetround(FE_TONEAREST);
    EXPECT_FALSE(nearest) << mode;
    EXPECT_EQ(bytes | s16 | depthwise, 0u) << mode;
    EXPECT_FALSE(passes) << mode;
  }
}

}  // namespace
}  // namespace octet_test
