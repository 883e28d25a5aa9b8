// SPDX-License-Identifier: Apache-2.0
// Checks residuals and tables at their edges: TFLite's ADD of every pair of bytes, by factors if
// there are some and by its definition, float mode's residual where values exceed int32, look-up
// tables of every byte. The tiers' epilogues are compared with the published formulas.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "octet/helpers.h"
#include "support/kernels.h"
#include "support/reference.h"

namespace octet_test {
namespace {

octet::ElementType type_of(bool u8) {
  return u8 ? octet::ElementType::kU8 : octet::ElementType::kS8;
}

using octet::Epilogue;
using octet::EpilogueMode;
using octet::EpilogueTile;
using octet::TfliteScale;

// An ADD and its clamps, from which create makes the fields of an Epilogue.
struct Add {
  TfliteScale product, residual, sum;
  bool dst_u8, residual_u8;
  int32_t product_zero_point, residual_zero_point, zero_point;
  int32_t product_lo, product_hi, lo, hi;
};

int32_t least_of(bool u8) { return u8 ? 0 : -128; }

Epilogue epilogue_of(const Add& a) {
  Epilogue f = {};
  f.mode = EpilogueMode::kTflite8;
  f.dst_type = type_of(a.dst_u8);
  f.zero_point = a.zero_point, f.lo = a.lo, f.hi = a.hi;
  f.has_residual = true;
  f.residual_type = type_of(a.residual_u8);
  f.residual_zero_point = a.residual_zero_point;
  f.intermediate_zero_point = a.product_zero_point;
  f.product_lo = a.product_lo - a.product_zero_point;
  f.product_hi = a.product_hi - a.product_zero_point;
  f.product_scale = a.product, f.residual_tflite = a.residual, f.sum_scale = a.sum;
  return f;
}

// The definition, on tensors' values.
int32_t expected(const Add& a, int32_t product, int32_t residual) {
  const TfliteAdd add = {
      a.product_zero_point,  a.product.multiplier, a.product.shift,  a.residual_zero_point,
      a.residual.multiplier, a.residual.shift,     a.sum.multiplier, a.sum.shift};
  return (int32_t)clamped(tflite_add(product, residual, add) + a.zero_point, a.lo, a.hi);
}

TfliteScale scale_of(double factor) {
  TfliteScale s;
  quantize_multiplier(factor, &s.multiplier, &s.shift);
  return s;
}

class Adds {
 public:
  // octet_tflite_add's numbers for three scales.
  Add of_scales(double product, double residual, double dst) {
    const double unit = 2 * std::max(product, residual);
    Add a = with_bounds();
    a.product = scale_of(product / unit), a.residual = scale_of(residual / unit);
    a.sum = scale_of(unit / dst * 0x1p-20);
    return a;
  }
  Add common() { return of_scales(real(1), real(1), real(2)); }
  // Sums at halves, once in two, four or eight
  Add of_powers() { return of_scales(power(), power(), power()); }
  // Any multipliers and shifts that create takes
  Add extreme() {
    Add a = with_bounds();
    for (TfliteScale* s : {&a.product, &a.residual, &a.sum}) {
      constexpr int32_t kMultipliers[] = {0, 1 << 30, (1 << 30) + 1, 3 << 29, INT32_MAX};
      s->multiplier = kMultipliers[below(5)];
      s->shift = below(4) ? -below(4) : -below(32);
    }
    if (below(4)) a.sum.shift = -16 - below(8);
    return a;
  }
  // Inputs lose the bits that they were shifted by, and the sum is only multiplied: negative ones
  // are rounded once, not twice
  Add unshifted() {
    Add a = extreme();
    a.product.shift = -18 - below(4), a.residual.shift = -18 - below(4), a.sum.shift = -below(2);
    return a;
  }

 private:
  int32_t below(uint32_t limit) { return (int32_t)(random_() % limit); }
  double real(double spread) { return std::exp(spread * ((double)random_() * 0x1p-31 - 1)); }
  double power() { return std::ldexp(1, below(4)); }

  Add with_bounds() {
    Add a = {};
    a.dst_u8 = below(2), a.residual_u8 = below(2);
    const int32_t least = least_of(a.dst_u8);
    const auto value = [&] { return least + (below(4) ? below(256) : 255 * below(2)); };
    a.product_zero_point = value(), a.zero_point = value();
    a.residual_zero_point = least_of(a.residual_u8) + below(256);
    const auto bounds = [&](int32_t zero_point, int32_t* lo, int32_t* hi) {
      *lo = least, *hi = least + 255;
      const int kind = below(4);
      if (kind == 1) *lo = zero_point;
      if (kind == 2) *lo = value(), *hi = value();
      if (*lo > *hi) std::swap(*lo, *hi);
    };
    bounds(a.product_zero_point, &a.product_lo, &a.product_hi);
    bounds(a.zero_point, &a.lo, &a.hi);
    return a;
  }

  std::mt19937 random_{11};
};

// Expects the definition's byte from the factors, for every pair of bytes.
void expect_exact(const Add& a, const octet::TfliteAdd& sum) {
  const int32_t flip = a.dst_u8 ? 0 : 128, residual_flip = a.residual_u8 ? 0 : 128,
                residual_least = least_of(a.residual_u8);
  for (int32_t x = a.product_lo; x <= a.product_hi; ++x)
    for (int32_t r = residual_least; r < residual_least + 256; ++r)
      ASSERT_EQ(std::clamp(sum.of(x + flip, r + residual_flip), a.lo, a.hi), expected(a, x, r))
          << x << " + " << r;
}

class ResidualExits : public testing::TestWithParam<octet::TierId> {
 protected:
  const octet::TierOps& ops() const { return octet::ops_of(GetParam()); }

  // Checks all rows at once, and in tiles of kernels' sizes.
  template <typename Expected>
  void check(const Epilogue& f, const std::vector<int32_t>& acc, size_t rows, size_t cols,
             const std::vector<uint8_t>& residual, const Expected& want) {
    constexpr size_t kTiles[][2] = {{256, 256}, {6, 64}, {12, 32}, {6, 16}, {5, 33}, {3, 7}};
    std::vector<int32_t> readable = acc;  // for whole vectors
    readable.resize(acc.size() + 64);
    for (const auto& [tile_rows, tile_cols] : kTiles) {
      std::vector<uint8_t> out(rows * (cols + 1), 0xcd);
      for (size_t i = 0; i < rows; i += tile_rows) {
        for (size_t j = 0; j < cols; j += tile_cols) {
          EpilogueTile t = {};
          t.acc = readable.data() + i * cols + j;
          t.acc_stride = cols;
          t.rows = std::min(tile_rows, rows - i), t.cols = std::min(tile_cols, cols - j);
          t.column = j;
          t.to = {out.data() + i * (cols + 1) + j, cols + 1, nullptr, 0};
          if (f.has_residual) t.to.residual = residual.data() + i * cols + j;
          t.to.residual_stride = cols;
          ops().epilogue(f, t);
        }
      }
      for (size_t i = 0; i < rows; ++i) {
        for (size_t j = 0; j < cols; ++j)
          ASSERT_EQ(out[i * (cols + 1) + j], (uint8_t)want(i, j))
              << i << ' ' << j << " in tiles of " << tile_rows << 'x' << tile_cols;
        ASSERT_EQ(out[i * (cols + 1) + cols], 0xcd);
      }
    }
  }

  // Accumulators that are the products, and residuals, in pairs.
  static constexpr size_t kSide = 256;
  void check_pairs(const Add& a, bool with_factors) {
    std::vector<int32_t> multiplier(kSide + 64, 1 << 30), shift(kSide + 64, 1),
        rows(octet::kTfliteRows * (kSide + 64)), acc(kSide * kSide);
    std::vector<uint8_t> residual(kSide * kSide);
    for (size_t n = 0; n < kSide + 64; ++n)
      octet::write_tflite_column(multiplier[n], shift[n], rows.data() + n, kSide + 64);
    for (size_t i = 0; i < kSide * kSide; ++i) {
      acc[i] = least_of(a.dst_u8) + (int32_t)(i / kSide) - a.product_zero_point;
      residual[i] = (uint8_t)i;
    }
    Epilogue f = epilogue_of(a);
    f.multiplier = multiplier.data(), f.shift = shift.data();
    f.tflite = {rows.data(), kSide + 64, octet::TfliteForm::kAll};
    octet::TfliteAdd sum;
    if (with_factors && (!ops().find_tflite_add || !ops().find_tflite_add(f, &sum))) return;
    f.tflite_add = with_factors ? &sum : nullptr;
    const auto want = [&](size_t i, size_t j) {
      const int32_t product =
                        std::clamp(least_of(a.dst_u8) + (int32_t)i, a.product_lo, a.product_hi),
                    r = a.residual_u8 ? (int32_t)j : (int8_t)((uint8_t)j);
      return expected(a, product, r);
    };
    check(f, acc, kSide, kSide, residual, want);
    if (!with_factors) return;
    if (ops().tflite_form == octet::TfliteForm::kAll) {  // quarters of four times the products
      for (size_t n = 0; n < kSide + 64; ++n) {
        shift[n] = -1;
        octet::write_tflite_column(multiplier[n], shift[n], rows.data() + n, kSide + 64);
      }
      for (int32_t& x : acc) x *= 4;
      f.tflite.divides = true;
      check(f, acc, kSide, kSide, residual, want);
    }
    if (ops().tflite_form_here() != octet::TfliteForm::kFloats) return;
    for (size_t n = 0; n < kSide + 64; ++n)
      octet::write_tflite_floats({0.0625f, 0, 0.5f}, rows.data() + n, kSide + 64);
    for (int32_t& x : acc) x *= 16;
    f.tflite.form = octet::TfliteForm::kFloats;
    check(f, acc, kSide, kSide, residual, want);
  }
};

TEST_P(ResidualExits, FactorsAreTheDefinition) {
  if (!ops().find_tflite_add) GTEST_SKIP() << "this tier has none";
  Adds adds;
  size_t common = 0, powers = 0, extreme = 0;
  constexpr size_t kEach = 120;
  for (size_t i = 0; i < kEach; ++i) {
    const auto found = [&](const Add& a) {
      octet::TfliteAdd sum;
      if (!ops().find_tflite_add(epilogue_of(a), &sum)) return false;
      expect_exact(a, sum);
      return true;
    };
    common += found(adds.common());
    powers += found(adds.of_powers());
    extreme += found(adds.extreme());
    if (HasFatalFailure()) return;
  }
  // ADDs without factors would be right, too, but slow. Compilers draw different ADDs
  EXPECT_GE(common, kEach * 97 / 100);
  EXPECT_EQ(powers, kEach);
  EXPECT_GE(extreme, kEach / 4);
  EXPECT_LT(extreme, kEach);  // ADDs without factors are tested, too
}

// The ADDs of MLPerf Tiny's ResNet-8, in both orders: an offset in steps of one factor's upper part
// is right for all pairs of two of them only.
TEST_P(ResidualExits, FactorsOfConvertedModels) {
  if (!ops().find_tflite_add) GTEST_SKIP() << "this tier has none";
  struct {
    float scales[3];
    int32_t zero_points[2];
  } constexpr kAdds[] = {{{0.0393935516f, 0.104194961f, 0.0509456731f}, {-128, 4}},
                         {{0.0447614267f, 0.113118842f, 0.0532362163f}, {-17, 4}},
                         {{0.0838583037f, 0.217243642f, 0.127069145f}, {38, -2}}};
  for (const auto& add : kAdds)
    for (const int first : {0, 1}) {
      Adds adds;
      Add a = adds.of_scales(add.scales[first], add.scales[1 - first], add.scales[2]);
      a.dst_u8 = a.residual_u8 = false;
      a.product_zero_point = add.zero_points[first];
      a.residual_zero_point = add.zero_points[1 - first];
      a.zero_point = a.product_lo = a.lo = -128, a.product_hi = a.hi = 127;
      octet::TfliteAdd sum;
      ASSERT_TRUE(ops().find_tflite_add(epilogue_of(a), &sum)) << add.scales[0];
      expect_exact(a, sum);
      check_pairs(a, true);
    }
}

TEST_P(ResidualExits, AddEveryPair) {
  Adds adds;
  for (int i = 0; i < 6; ++i)
    for (const Add& a : {adds.common(), adds.of_powers(), adds.extreme(), adds.unshifted()})
      for (const bool with_factors : {false, true}) {
        check_pairs(a, with_factors);
        if (HasFatalFailure()) return;
      }
}

TEST_P(ResidualExits, AddFloats) {
  constexpr size_t kRows = 24, kColumns = 160;
  constexpr float kScales[] = {0x1p-31f, 0.00031f, 0.37f, 1, 1.5f, 0x1p48f};
  std::mt19937 random(5);
  for (const float residual_scale : {0.0031f, 0.5f, 1.0f, 3.7f, 0x1p30f, 0x1p48f}) {
    for (const bool u8 : {false, true}) {
      for (const int kind : {0, 1, 2}) {
        const bool clamps = kind == 1, fits = kind == 2;  // in 16 bits
        if (fits && residual_scale > 4) continue;
        std::vector<float> scales(kColumns + 64);
        for (size_t n = 0; n < scales.size(); ++n) scales[n] = kScales[n % std::size(kScales)];
        std::vector<int32_t> acc(kRows * kColumns);
        std::vector<uint8_t> residual(kRows * kColumns);
        for (size_t i = 0; i < acc.size(); ++i) {
          constexpr int32_t kEnds[] = {INT32_MIN, INT32_MAX, 0, -1};
          const float factor = scales[i % kColumns];
          acc[i] =
              random() % 4 == 0 && !fits
                  ? kEnds[random() % 4]
                  : (int32_t)std::clamp(((double)(random() % 1200) - 600) / 2 / factor, -2e9, 2e9);
          residual[i] = (uint8_t)random();
        }
        Epilogue f = {};
        f.mode = EpilogueMode::kFloat8;
        f.dst_type = type_of(u8), f.residual_type = type_of(!u8);
        f.scale = scales.data();
        f.zero_point = least_of(u8) + 100, f.lo = least_of(u8) + 3, f.hi = least_of(u8) + 250;
        f.lo_f32 = (float)(f.lo - f.zero_point);
        f.hi_f32 = (float)(f.hi - f.zero_point);
        f.has_residual = true;
        f.residual_zero_point = least_of(!u8) + 9;
        f.residual_scale = residual_scale;
        f.clamps_product = clamps;
        f.fits_int32 = f.fits_int16 = fits;
        f.product_lo_f32 = -0.75f, f.product_hi_f32 = 77.25f;
        check(f, acc, kRows, kColumns, residual, [&](size_t i, size_t j) {
          const size_t at = i * kColumns + j;
          float product = fl((double)fl(acc[at]) * scales[j]);
          if (clamps) product = std::min(std::max(product, f.product_lo_f32), f.product_hi_f32);
          const int32_t r =
              f.residual_type == octet::ElementType::kU8 ? residual[at] : (int8_t)residual[at];
          const float addend = fl((double)(r - f.residual_zero_point) * residual_scale);
          return quantize_sum(product, addend, f.zero_point, f.lo, f.hi);
        });
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(ResidualExits, LookUpEveryByte) {
  constexpr size_t kRows = 9, kColumns = 256;
  std::mt19937 random(3);
  for (const bool tflite : {false, true}) {
    std::vector<uint8_t> lut(512);
    for (size_t i = 0; i < 256; ++i) lut[i] = (uint8_t)random();
    for (size_t i = 0; i < 256; ++i)
      lut[256 + i] = i % 128 < 16 ? lut[i] : (uint8_t)(lut[i] ^ lut[i - 16]);
    std::vector<float> scales(kColumns + 64, 1);
    std::vector<int32_t> multiplier(kColumns + 64, 1 << 30), shift(kColumns + 64, 1),
        columns(octet::kTfliteRows * (kColumns + 64)), acc(kRows * kColumns);
    for (size_t n = 0; n < kColumns + 64; ++n)
      octet::write_tflite_column(1 << 30, 1, columns.data() + n, kColumns + 64);
    for (size_t i = 0; i < acc.size(); ++i) acc[i] = (int32_t)(i % 256 * (i / 256 + 1)) % 256;
    Epilogue f = {};
    f.mode = tflite ? EpilogueMode::kTflite8 : EpilogueMode::kFloat8;
    f.dst_type = octet::ElementType::kU8;
    f.scale = scales.data();
    f.hi = 255, f.hi_f32 = 255;
    f.multiplier = multiplier.data(), f.shift = shift.data();
    if (tflite) f.tflite = {columns.data(), kColumns + 64, octet::TfliteForm::kAll};
    f.lut = lut.data();
    f.look_up = ops().look_up_for(octet::this_machine().cpu.features);
    check(f, acc, kRows, kColumns, {},
          [&](size_t i, size_t j) { return lut[(size_t)acc[i * kColumns + j]]; });
  }
}

OCTET_FOR_EACH_TIER(ResidualExits);

}  // namespace
}  // namespace octet_test
