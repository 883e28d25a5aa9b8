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
  // right_rows: whether the epilogue knows rows that are right_only. any: takes any accumulator,
  // certified or not.
  TfliteEdges(Store exit, bool right_rows, bool any)
      : exit_(std::move(exit)), right_rows_(right_rows), any_(any) {}

  void check_shifts(int32_t first, int32_t last, bool certified) {
    for (int32_t shift = first; shift <= last; ++shift)
      for (const Clamp& clamp : kClamps) {
        check(shift, certified, false, clamp);
        if (right_rows_ && certified && octet::is_right_only(shift) && clamp.lo >= clamp.zero_point)
          check(shift, certified, true, clamp);
        if (testing::Test::HasFatalFailure()) return;
      }
  }

 private:
  // All columns have one shift, each its own multiplier; certified and right_only are create's
  // results.
  void check(int32_t shift, bool certified, bool right_only, const Clamp& clamp) {
    const int left = std::max(shift, 0);
    const bool limited = certified && !right_only && !any_;
    const int64_t most = limited ? ((int64_t{1} << 30) - 1) >> left : INT32_MAX >> left;
    std::vector<int32_t> multiplier(kPadded), shifts(kPadded, shift);
    std::vector<int32_t> rows(octet::kTfliteRows * kPadded);
    std::vector<std::vector<int32_t>> acc(kColumns);
    for (size_t n = 0; n < kPadded; ++n) {
      multiplier[n] = n % 8 == 7 ? (int32_t)((1u << 30) + random_() % (1u << 30))
                                 : kMultipliers[n % 8 % std::size(kMultipliers)];
      const auto write = right_only ? octet::write_tflite_right_column : octet::write_tflite_column;
      write(multiplier[n], shift, rows.data() + n, kPadded);
      if (n < kColumns) acc[n] = hard_accumulators({multiplier[n], shift}, most, &random_);
      if (n < kColumns && !limited && left == 0) acc[n].push_back(INT32_MIN);
    }
    Epilogue f = {};
    f.mode = EpilogueMode::kTflite8;
    f.dst_type = type_of(clamp.u8);
    f.zero_point = clamp.zero_point, f.lo = clamp.lo, f.hi = clamp.hi;
    f.multiplier = multiplier.data();
    f.shift = shifts.data();
    if (certified) f.tflite = TfliteColumns{rows.data(), kPadded, right_only};
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
  const bool right_rows_, any_;
  std::mt19937 random_{7};
};

class TfliteExits : public testing::TestWithParam<octet::TierId> {};

TEST_P(TfliteExits, AreTheFormulas) {
  if (!is_to_test((octet_isa)GetParam())) GTEST_SKIP() << "tested by another run";
  const octet::TierOps& ops = octet::ops_of(GetParam());
  for (const bool certified : {false, true})
    TfliteEdges(ops.epilogue, ops.tflite_right_rows, !ops.tflite_right_rows)
        .check_shifts(-31, 29, certified);
}

OCTET_FOR_EACH_TIER(TfliteExits);

// Multiplies by zeros, so that the accumulators are the tile's init.
void leave_by(const MicroKernel& kernel, const Epilogue& f, const EpilogueTile& t) {
  static const std::vector<uint8_t> zeros(1 << 14);
  const octet::Requantization requantization = {f.zero_point, f.lo,           f.hi,
                                                f.dst_type,   f.tflite.apart, f.tflite.right_only};
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
  const bool right_rows = octet::ops_of(kernel().tier_id).tflite_right_rows;
  TfliteEdges(exit, right_rows, !right_rows)
      .check_shifts(-31, kernel().is(octet::kTfliteRightShiftOnly) ? -1 : 29, true);
}

}  // namespace
}  // namespace octet_test
