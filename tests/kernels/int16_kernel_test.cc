// SPDX-License-Identifier: Apache-2.0
// Checks the int16 kernels by themselves. Sums wrap: Winograd relies on it.
#include <random>

#include "support/guarded.h"
#include "support/kernels.h"

namespace octet_test {
namespace {

class Int16Kernel : public EachKernel {
 protected:
  void check(size_t rows, size_t cols, size_t depth, int lhs_s16, int rhs_s16, bool init_per_row,
             Side side) {
    const octet::RhsLayout& layout = kernel().rhs_layout;
    const size_t lanes = octet::round_up(cols, layout.width), padded = layout.steps(depth),
                 lhs_stride = padded + 6, dst_stride = cols + 2;
    std::mt19937 random((uint32_t)(rows * 7919 + cols * 104729 + depth));
    const auto word = [&](int fixed) {
      return (int16_t)(fixed < -32768 ? (int)(random() & 0xffff) - 32768 : fixed);
    };
    // Kernels may read whole groups of each row; values beyond the depth are multiplied by zeros.
    const Guarded lhs(((rows - 1) * lhs_stride + padded) * 2, side, 4),
        rhs(lanes * padded * 2, side, 64);
    const Guarded init((init_per_row ? rows : 1) * lanes * 4, side, 4),
        dst(((rows - 1) * dst_stride + cols) * 4, side, 4);
    for (size_t i = 0; i < lhs.bytes() / 2; ++i) lhs.data<int16_t>()[i] = word(lhs_s16);
    std::memset(rhs.data(), 0, rhs.bytes());
    const auto at = [&](size_t k, size_t j) -> int16_t& {
      return rhs.data<int16_t>()[j / layout.width * layout.width * padded +
                                 (k / layout.kr * layout.width + j % layout.width) * layout.kr +
                                 k % layout.kr];
    };
    for (size_t k = 0; k < depth; ++k)
      for (size_t j = 0; j < cols; ++j) at(k, j) = word(rhs_s16);
    for (size_t i = 0; i < init.bytes() / 4; ++i) init.data<uint32_t>()[i] = (uint32_t)random();

    octet::Tile tile = {};
    tile.lhs = lhs.data();
    tile.lhs_stride = lhs_stride * 2;
    tile.rhs = rhs.data();
    tile.rhs_stride = layout.width * layout.kr * size_t{2};
    tile.rhs_panel_stride = layout.width * padded * 2;
    tile.depth = depth;
    tile.rows = rows;
    tile.cols = cols;
    tile.init = init.data<int32_t>();
    tile.init_stride = init_per_row ? lanes : 0;
    tile.dst = dst.data();
    tile.dst_stride = dst_stride * 4;
    kernel().multiply(tile);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < cols; ++j) {
        uint32_t acc = init.data<uint32_t>()[i * tile.init_stride + j];
        for (size_t k = 0; k < depth; ++k)
          acc += (uint32_t)(lhs.data<int16_t>()[i * lhs_stride + k] * at(k, j));
        ASSERT_EQ(dst.data<uint32_t>()[i * dst_stride + j], acc)
            << kernel().name << ' ' << rows << 'x' << cols << 'x' << depth << " at [" << i << "]["
            << j << ']';
      }
      for (size_t j = cols; i + 1 < rows && j < dst_stride; ++j)
        ASSERT_EQ(dst.data<uint32_t>()[i * dst_stride + j], 0xA5A5A5A5u);
    }
  }

  // Taps are products of their own; rows of eights are `gap` rows more than there are.
  void check_eights(size_t rows, size_t depth, int lhs_s16, int rhs_s16, Side side) {
    const size_t taps = 3, nr = kernel().nr, groups = octet::divide_up(depth, 8), gap = rows % 3;
    std::mt19937 random((uint32_t)(rows * 7919 + depth));
    const auto word = [&](int fixed) {
      return (int16_t)(fixed < -32768 ? (int)(random() & 0xffff) - 32768 : fixed);
    };
    const size_t group_step = (rows + gap) * 8, tap_step = groups * group_step;
    const Guarded lhs((taps * tap_step - gap * 8) * 2, side, 16),
        rhs(taps * nr * depth * 2, side, 16), dst(taps * rows * nr * 4, side, 4);
    for (size_t i = 0; i < lhs.bytes() / 2; ++i) lhs.data<int16_t>()[i] = word(lhs_s16);
    for (size_t i = 0; i < rhs.bytes() / 2; ++i) rhs.data<int16_t>()[i] = word(rhs_s16);
    const ptrdiff_t steps[] = {(ptrdiff_t)(tap_step * 2), (ptrdiff_t)(nr * depth * 2),
                               (ptrdiff_t)(rows * nr * 4)};
    octet::Tile tile = {};
    tile.lhs = lhs.data();
    tile.lhs_stride = group_step * 2;
    tile.rhs = rhs.data();
    tile.depth = depth;
    tile.taps = taps;
    tile.tap_steps = steps;
    tile.rows = rows;
    tile.cols = nr;
    tile.dst = dst.data();
    tile.dst_stride = nr * 4;
    kernel().multiply_eights(tile);
    for (size_t tap = 0; tap < taps; ++tap)
      for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < nr; ++j) {
          uint32_t acc = 0;
          for (size_t k = 0; k < depth; ++k)
            acc += (uint32_t)(lhs.data<int16_t>()[tap * tap_step + k / 8 * group_step + i * 8 +
                                                  k % 8] *
                              rhs.data<int16_t>()[(tap * depth + k) * nr + j]);
          ASSERT_EQ(dst.data<uint32_t>()[(tap * rows + i) * nr + j], acc)
              << kernel().name << ' ' << rows << 'x' << depth << " at [" << tap << "][" << i << "]["
              << j << ']';
        }
  }
};

INSTANTIATE_TEST_SUITE_P(, Int16Kernel, testing::ValuesIn(int16_table()), kernel_name);

constexpr int kRandom = -40000;

TEST_P(Int16Kernel, EveryTileShape) {
  std::vector<size_t> columns = around({kernel().rhs_layout.step, kernel().nr});
  columns.erase(
      std::remove_if(columns.begin(), columns.end(), [&](size_t n) { return n > kernel().nr; }),
      columns.end());
  bool turn = false;
  for (size_t rows = 1; rows <= kernel().mr; ++rows)
    for (const size_t cols : columns)
      for (const size_t depth : {1, 2, 3, 4, 7, 8, 9, 16, 31, 64, 129})
        for (const auto& words : {std::pair<int, int>{kRandom, kRandom},
                                  {-32768, -32768},
                                  {-32768, 32767},
                                  {32767, 32767}}) {
          turn = !turn;
          check(rows, cols, depth, words.first, words.second, turn,
                (rows + cols + depth) % 2 ? Side::kBack : Side::kFront);
          if (HasFatalFailure()) return;
        }
}

TEST_P(Int16Kernel, RowsByEights) {
  if (!kernel().multiply_eights) GTEST_SKIP() << kernel().name << " takes rows";
  for (size_t rows = 1; rows <= 3 * kernel().mr; ++rows)
    for (const size_t depth : {1, 7, 8, 9, 16, 23, 24, 31, 40, 64})
      for (const auto& words : {std::pair<int, int>{kRandom, kRandom}, {-32768, -32768}}) {
        check_eights(rows, depth, words.first, words.second,
                     (rows + depth) % 2 ? Side::kBack : Side::kFront);
        if (HasFatalFailure()) return;
      }
}

TEST(Int16KernelTable, NamesTellTheTile) {
  for (const MicroKernel* kernel : int16_table()) {
    const std::string name = kernel->name, tile = std::to_string(kernel->mr) + 'x' +
                                                  std::to_string(kernel->nr) + 'x' +
                                                  std::to_string(kernel->rhs_layout.kr);
    EXPECT_EQ(name.substr(name.rfind('_') + 1), tile);
    EXPECT_EQ(kernel->rhs_layout.element_type, octet::ElementType::kS16) << name;
    EXPECT_EQ(kernel->lhs_element_type, octet::ElementType::kS16) << name;
    EXPECT_EQ(kernel->rhs_layout, octet::format_of(octet::tier_of(kernel->tier_id).s16).layout)
        << name;
    EXPECT_EQ(kernel->gather, nullptr) << name << ": Winograd's words lie in rows";
    EXPECT_EQ(kernel->nr % kernel->rhs_layout.width, 0) << name;
    EXPECT_LE(kernel->nr, 64) << name;
  }
}

}  // namespace
}  // namespace octet_test
