// SPDX-License-Identifier: Apache-2.0
// Checks TFLite mode's arithmetic at its edges: ties of both roundings, the largest accumulators,
// every shift, multipliers at both ends. The tiers' epilogues, with and without the certificate,
// and the kernels that requantize by themselves are compared with the published formulas.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "dispatch/tables/tiers.h"
#include "operators/epilogue/tflite_floats.h"
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
using octet::TfliteColumns;
using octet::TfliteForm;

constexpr int32_t kMultipliers[] = {0,       1 << 30,       (1 << 30) + 1, 1518500250,
                                    3 << 29, INT32_MAX - 1, INT32_MAX};
constexpr size_t kRows = 5, kColumns = 83, kPadded = 128;

struct Channel {
  int32_t multiplier, shift;
};

// Accumulators within [-most, most] that either rounding finds hard: around each output's edge.
std::vector<int32_t> hard_accumulators(const Channel& c, int64_t most, std::mt19937* random) {
  std::vector<int32_t> all;
  const auto add = [&](double x) {
    for (int64_t near = -2; near <= 2; ++near)
      for (const int64_t sign : {-1, 1}) {
        const double value = (double)sign * (x + (double)near);
        if (std::abs(value) <= (double)most) all.push_back((int32_t)value);
      }
  };
  add(0);
  add((double)most);
  add(std::floor((double)most / 2));
  const double factor = std::ldexp(c.multiplier ? c.multiplier : 1, c.shift - 31);
  for (int i = 0; i < 24; ++i) {
    const double half = (double)((*random)() % 300) + 0.5;
    add(std::floor(half / factor));
    add(std::floor((half - std::ldexp(1.0, c.shift - 1)) / factor));
  }
  for (int i = 0; i < 8; ++i) add((double)((*random)() % (uint64_t)(most + 1)));
  return all;
}

struct Clamp {
  int32_t zero_point, lo, hi;
  bool u8;
};
constexpr Clamp kClamps[] = {
    {0, -128, 127, false}, {-128, -128, 127, false}, {-3, -100, 100, false}, {0, 0, 255, true},
    {255, 0, 255, true},   {128, 128, 200, true},    {7, 9, 250, true},      {5, -128, -7, false}};

using Store = std::function<void(const Epilogue&, const EpilogueTile&)>;

class TfliteEdges {
 public:
  // form: which rows the tier knows besides kAll. any: takes any accumulator, certified or not.
  TfliteEdges(Store exit, TfliteForm form, bool any)
      : exit_(std::move(exit)), form_(form), any_(any) {}

  void check_shifts(int32_t first, int32_t last, bool certified) {
    for (int32_t shift = first; shift <= last; ++shift)
      for (const Clamp& clamp : kClamps) {
        check(shift, certified, TfliteForm::kAll, clamp);
        const bool right = certified && octet::is_right_only(shift),
                   up = clamp.lo >= clamp.zero_point;
        if (form_ == TfliteForm::kFloats && right && shift >= -15) {
          check(shift, true, TfliteForm::kFloats, clamp);
          if (up) check(shift, true, TfliteForm::kFloatsUp, clamp);
        }
        if (testing::Test::HasFatalFailure()) return;
      }
  }

 private:
  // Writes a column's row; true, but where the form is one of floats that do not give its outputs.
  static bool write(TfliteForm form, const Channel& c, int32_t* rows) {
    if (form == TfliteForm::kAll) octet::write_tflite_column(c.multiplier, c.shift, rows, kPadded);
    if (form == TfliteForm::kAll) return true;
    float values[3];
    if (!octet::find_tflite_floats(c.multiplier, c.shift, form == TfliteForm::kFloats, values))
      return false;
    octet::write_tflite_floats(values, rows, kPadded);
    return true;
  }

  // All columns have one shift, each its own multiplier; certified and form are create's results.
  void check(int32_t shift, bool certified, TfliteForm form, const Clamp& clamp) {
    const int left = std::max(shift, 0);
    const bool limited = certified && form == TfliteForm::kAll && !any_;
    const int64_t most = limited ? ((int64_t{1} << 30) - 1) >> left : INT32_MAX >> left;
    std::vector<int32_t> multiplier(kPadded), shifts(kPadded, shift);
    std::vector<int32_t> rows(octet::kTfliteRows * kPadded);
    std::vector<std::vector<int32_t>> acc(kColumns);
    for (size_t n = 0; n < kPadded; ++n) {
      multiplier[n] = n % 8 == 7 ? (int32_t)((1u << 30) + random_() % (1u << 30))
                                 : kMultipliers[n % 8 % std::size(kMultipliers)];
      while (!write(form, {multiplier[n], shift}, rows.data() + n))
        multiplier[n] = (int32_t)((1u << 30) + random_() % (1u << 30));
      if (n < kColumns) acc[n] = hard_accumulators({multiplier[n], shift}, most, &random_);
      if (n < kColumns && !limited && left == 0) acc[n].push_back(INT32_MIN);
    }
    Epilogue f = {};
    f.mode = EpilogueMode::kTflite8;
    f.dst_type = type_of(clamp.u8);
    f.zero_point = clamp.zero_point, f.lo = clamp.lo, f.hi = clamp.hi;
    f.multiplier = multiplier.data();
    f.shift = shifts.data();
    if (certified) f.tflite = TfliteColumns{rows.data(), kPadded, form};
    size_t turns = 0;
    for (const std::vector<int32_t>& column : acc) turns = std::max(turns, column.size());
    for (size_t turn = 0; turn < turns; turn += kRows)
      check_tile(f, acc, turn, 1 + turn % kRows, turn % 7, kColumns - turn % 70);
  }

  // Columns [column, end); cases from `turn` on, again and again.
  void check_tile(const Epilogue& f, const std::vector<std::vector<int32_t>>& acc, size_t turn,
                  size_t rows, size_t column, size_t end) {
    if (column >= end) return;
    std::vector<int32_t> tile(rows * kPadded);
    const auto at = [&](size_t i, size_t n) { return acc[n][(turn + i) % acc[n].size()]; };
    for (size_t i = 0; i < rows; ++i)
      for (size_t n = column; n < end; ++n) tile[i * kPadded + n - column] = at(i, n);
    std::vector<uint8_t> out(rows * kPadded, 0xcd);
    EpilogueTile t = {};
    t.acc = tile.data();
    t.acc_stride = kPadded;
    t.rows = rows;
    t.cols = end - column;
    t.column = column;
    t.to.dst = out.data();
    t.to.stride = kPadded;
    exit_(f, t);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t n = column; n < end; ++n) {
        const int64_t scaled =
            multiply_by_quantized_multiplier(at(i, n), f.multiplier[n], f.shift[n]);
        const int64_t want = clamped(scaled + f.zero_point, f.lo, f.hi);
        ASSERT_EQ(out[i * kPadded + n - column], (uint8_t)want)
            << at(i, n) << " * " << f.multiplier[n] << ", shift " << f.shift[n] << ", zero point "
            << f.zero_point << ", column " << n;
      }
      for (size_t n = end - column; n < kPadded; ++n) ASSERT_EQ(out[i * kPadded + n], 0xcd) << n;
    }
  }

  Store exit_;
  const TfliteForm form_;
  const bool any_;
  std::mt19937 random_{7};
};

// What kernels do with the floats. Double holds all products and sums here exactly.
int32_t by_floats(const float (&values)[3], int32_t x) {
  const double begin = std::copysign(values[octet::kTfliteBegin], x);
  const double sum = (float)x;
  const float inner = (float)(sum * values[octet::kTfliteLow] + begin);
  return (int32_t)std::trunc(sum * values[octet::kTfliteHigh] + inner);
}

TEST(TfliteFloats, GiveEveryOutput) {
  std::mt19937 random(5);
  size_t missing = 0;
  for (int32_t shift = -15; shift < 0; ++shift)
    for (int turn = 0; turn < 60; ++turn) {
      const int32_t multiplier = turn < (int)std::size(kMultipliers)
                                     ? kMultipliers[turn]
                                     : (int32_t)((1u << 30) + random() % (1u << 30));
      float up[3], all[3];
      const bool has_all = octet::find_tflite_floats(multiplier, shift, true, all);
      if (!octet::find_tflite_floats(multiplier, shift, false, up)) {
        ++missing;
        continue;
      }
      const double factor = std::ldexp(multiplier ? multiplier : 1, shift - 31);
      for (int32_t output = 1; output <= 255; ++output)
        for (int32_t near = -2; near <= 2; ++near) {
          const int32_t x = (int32_t)std::min((output - 0.5) / factor, 0x1p30) + near;
          const auto want = [&](int32_t acc) {
            return (int32_t)multiply_by_quantized_multiplier(acc, multiplier, shift);
          };
          ASSERT_EQ(by_floats(up, x), want(x)) << x << " * " << multiplier << ", " << shift;
          if (!has_all) continue;
          ASSERT_EQ(by_floats(all, x), want(x)) << x << " * " << multiplier << ", " << shift;
          ASSERT_EQ(by_floats(all, -x), want(-x)) << -x << " * " << multiplier << ", " << shift;
        }
    }
  EXPECT_LT(missing, 40u);  // nearly all with a shift of -15
}

// Halves of negative numbers become other outputs than those of positive ones.
TEST(TfliteFloats, AreNotFoundForTies) {
  float values[3];
  EXPECT_FALSE(octet::find_tflite_floats(1 << 30, -8, true, values));
  EXPECT_TRUE(octet::find_tflite_floats(1 << 30, -8, false, values));
  EXPECT_FALSE(octet::find_tflite_floats(1518500250, 0, false, values));
}

// The last accumulators before an output begins and after, for floats and by the definition.
TEST(TfliteFloats, KnowSumsOfOneOutput) {
  for (const int64_t sign : {1, -1}) {
    const auto one = [&](int64_t from, int64_t to) {
      return octet::gives_one_output(std::min(sign * from, sign * to),
                                     std::max(sign * from, sign * to), 1320764593, -27);
    };
    EXPECT_TRUE(one(982034724, 982034724));  // where output 5 begins
    EXPECT_FALSE(one(982034723, 982034724));
    EXPECT_TRUE(one(982034724, 1073741760));
    EXPECT_FALSE(one(982034724, 1190000000));  // floats are at 5.45 + 0.75 there
    EXPECT_FALSE(one(0, 1073741760));
    EXPECT_TRUE(one(-1000000, 1000000));
  }
  float values[3];
  ASSERT_TRUE(octet::find_tflite_floats(1320764593, -27, true, values));
  EXPECT_EQ(by_floats(values, 982034724), 5);
  EXPECT_EQ(by_floats(values, -982034724), -5);
  EXPECT_FALSE(
      octet::gives_one_output((int64_t)INT32_MAX + 1, (int64_t)INT32_MAX + 1, 1 << 30, -16));
}

class TfliteExits : public testing::TestWithParam<octet::TierId> {};

TEST_P(TfliteExits, AreTheFormulas) {
  if (!is_to_test((octet_isa)GetParam())) GTEST_SKIP() << "tested by another run";
  const octet::TierOps& ops = octet::ops_of(GetParam());
  for (const bool certified : {false, true})
    TfliteEdges(ops.epilogue, ops.tflite_form_here(), ops.tflite_form == TfliteForm::kAll)
        .check_shifts(-31, 29, certified);
}

OCTET_FOR_EACH_TIER(TfliteExits);

// Multiplies by zeros, so that the accumulators are the tile's init.
void leave_by(const MicroKernel& kernel, const Epilogue& f, const EpilogueTile& t) {
  static const std::vector<uint8_t> zeros(1 << 14);
  const octet::Requantization requantization = {f.zero_point, f.lo,           f.hi,
                                                f.dst_type,   f.tflite.apart, f.tflite.form};
  for (size_t i = 0; i < t.rows; i += kernel.mr)
    for (size_t j = 0; j < t.cols; j += kernel.nr) {
      octet::Tile tile = {};
      tile.lhs = tile.rhs = zeros.data();
      tile.rhs_decoded = kernel.decoder.room;
      tile.depth = 1;
      tile.rows = std::min<size_t>(t.rows - i, kernel.mr);
      tile.cols = std::min<size_t>(t.cols - j, kernel.nr);
      tile.init = t.acc + i * t.acc_stride + j;
      tile.init_stride = t.acc_stride;
      tile.dst = t.to.dst + i * t.to.stride + j;
      tile.dst_stride = t.to.stride;
      tile.scale = (const float*)(f.tflite.rows + t.column + j);
      tile.requantization = &requantization;
      kernel.multiply(tile);
    }
}

class TfliteKernels : public EachKernel {};
OCTET_FOR_EACH_KERNEL(TfliteKernels);

TEST_P(TfliteKernels, LeaveByTheFormulas) {
  if (!kernel().is(octet::kRequantizesTflite)) GTEST_SKIP() << "leaves by its tier's epilogue";
  const auto exit = [&](const Epilogue& f, const EpilogueTile& t) { leave_by(kernel(), f, t); };
  const octet::TierOps& ops = octet::ops_of(kernel().tier_id);
  TfliteEdges(exit, ops.tflite_form_here(), ops.tflite_form == TfliteForm::kAll)
      .check_shifts(-31, kernel().is(octet::kTfliteRightShiftOnly) ? -1 : 29, true);
}

}  // namespace
}  // namespace octet_test
