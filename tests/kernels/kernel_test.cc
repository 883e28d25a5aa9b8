// SPDX-License-Identifier: Apache-2.0
// Checks micro-kernels by themselves, with operands laid out by the formula.
#include "kernels/kernel_tile.h"

namespace octet_test {
namespace {

using octet::ElementType;
using octet::Requantization;
constexpr ElementType kS8 = ElementType::kS8, kU8 = ElementType::kU8;

std::string describe(const MicroKernel& kernel, const TileCase& c) {
  return std::string(kernel.name) + ' ' + std::to_string(c.rows) + 'x' + std::to_string(c.cols) +
         'x' + std::to_string(c.depth) + " bytes " + std::to_string(c.lhs_byte) + ", " +
         std::to_string(c.rhs_byte) + (c.flip ? " flipped" : "");
}

void check_s32(const MicroKernel& kernel, const TileCase& c, KernelTile& work) {
  const size_t stride = c.cols + 2;
  const Guarded dst(((c.rows - 1) * stride + c.cols) * sizeof(int32_t), c.side, sizeof(int32_t));
  work.tile().dst = dst.data();
  work.tile().dst_stride = stride * sizeof(int32_t);
  kernel.multiply(work.tile());
  for (size_t i = 0; i < c.rows; ++i) {
    for (size_t j = 0; j < c.cols; ++j)
      ASSERT_EQ(dst.data<int32_t>()[i * stride + j], work.expected(i, j))
          << describe(kernel, c) << " at [" << i << "][" << j << ']';
    for (size_t j = c.cols; i + 1 < c.rows && j < stride; ++j)
      ASSERT_EQ(dst.data<uint32_t>()[i * stride + j], 0xA5A5A5A5u)
          << describe(kernel, c) << " wrote beyond row " << i;
  }
}

// The init may lie in dst.
void check_in_place(const MicroKernel& kernel, const TileCase& c, KernelTile& work) {
  const auto init = [](size_t at) { return 0x9E3779B9u * (uint32_t)(at + 1); };
  const size_t stride = octet::round_up(c.cols, kernel.rhs_layout.step), count = c.rows * stride;
  const Guarded sums(count * sizeof(int32_t), c.side, sizeof(int32_t));
  for (size_t at = 0; at < count; ++at) sums.data<uint32_t>()[at] = init(at);
  octet::Tile tile = work.tile();
  tile.init = sums.data<int32_t>();
  tile.init_stride = stride;
  tile.dst = sums.data();
  tile.dst_stride = stride * sizeof(int32_t);
  kernel.multiply(tile);
  for (size_t i = 0; i < c.rows; ++i)
    for (size_t j = 0; j < c.cols; ++j)
      ASSERT_EQ(sums.data<uint32_t>()[i * stride + j], init(i * stride + j) + work.added(i, j))
          << describe(kernel, c) << " in place at [" << i << "][" << j << ']';
}

void check_requantize(const MicroKernel& kernel, const TileCase& c, KernelTile& work,
                      const Requantization& requantization) {
  const size_t stride = c.cols + 2, lanes = octet::round_up(c.cols, kernel.rhs_layout.step);
  const Guarded dst((c.rows - 1) * stride + c.cols, c.side);
  const Guarded scale(lanes * sizeof(float), c.side, sizeof(float));
  const float largest = kernel.is(octet::kRequantizes16) ? 1.525e-5f : 0.9999999f;
  for (size_t j = 0; j < lanes; ++j)
    scale.data<float>()[j] = j % 3 ? largest : 3e-8f * (float)(1 + j % 11);
  work.tile().dst = dst.data();
  work.tile().dst_stride = stride;
  work.tile().scale = scale.data<float>();
  work.tile().requantization = &requantization;
  kernel.multiply(work.tile());
  for (size_t i = 0; i < c.rows; ++i) {
    for (size_t j = 0; j < c.cols; ++j) {
      const int32_t want =
          requantize(work.expected(i, j), scale.data<float>()[j], 0, requantization.zero_point,
                     requantization.lo, requantization.hi);
      ASSERT_EQ(dst.data()[i * stride + j], (uint8_t)want)
          << describe(kernel, c) << " requantized at [" << i << "][" << j << ']';
    }
    for (size_t j = c.cols; i + 1 < c.rows && j < stride; ++j)
      ASSERT_EQ(dst.data()[i * stride + j], Guarded::kUntouched);
  }
}

// All ways in which a tile leaves the kernel, for one set of operands.
void check(const MicroKernel& kernel, const TileCase& c, const Requantization& requantization) {
  KernelTile work(kernel, c);
  check_s32(kernel, c, work);
  check_in_place(kernel, c, work);
  if (kernel.is(octet::kRequantizes)) check_requantize(kernel, c, work, requantization);
}

class Kernel : public EachKernel {
 protected:
  static std::vector<size_t> around_up_to(size_t most, std::initializer_list<size_t> sizes) {
    std::vector<size_t> counts = around(sizes);
    counts.erase(std::upper_bound(counts.begin(), counts.end(), most), counts.end());
    return counts;
  }

  // All row counts of a tile; of a tall one, which takes an emulator long, those around its half
  // and its end.
  static std::vector<size_t> row_counts(size_t most) {
    if (most > 12) return around_up_to(most, {most / 2, most});
    std::vector<size_t> counts(most);
    std::iota(counts.begin(), counts.end(), 1);
    return counts;
  }

  // The row counts, the column counts around each vector, the depths around each group, both lhs
  // signs, random and extreme bytes.
  template <typename Check>
  void each_tile(Check check_tile) {
    const size_t nr = kernel().nr, tall_nr = kernel().tall_nr ? kernel().tall_nr : nr;
    const std::vector<size_t> columns =
        around_up_to(nr, {kernel().rhs_layout.step, (nr + 1) / 2, tall_nr, nr});
    static constexpr int kInt8[][2] = {{-1, -1},     {0x00, 0x80}, {0xff, 0x80},
                                       {0xff, 0x7f}, {0x80, 0x7f}, {0x7f, 0x80},
                                       {0x80, 0x80}, {0x00, 0xff}, {0xff, 0xff}};
    bool init_per_row = false;
    for (const size_t cols : columns)
      for (const size_t rows : row_counts(kernel().rows_of(cols)))
        for (const size_t depth : depths(kernel()))
          for (const auto& bytes : kInt8)
            for (int flip = 0; flip <= (kernel().is(octet::kAnyLhs) ? 1 : 0); ++flip) {
              init_per_row = !init_per_row;
              const Side side = (rows + cols + depth) % 2 ? Side::kBack : Side::kFront;
              check_tile(
                  TileCase{rows, cols, depth, flip != 0, bytes[0], bytes[1], init_per_row, side});
              if (HasFatalFailure()) return;
            }
  }
};
OCTET_FOR_EACH_KERNEL(Kernel);

TEST_P(Kernel, OneByOne) {
  check(kernel(), {1, 1, 1, false, -1, -1, false, Side::kBack}, {3, -100, 100, kS8});
}

TEST_P(Kernel, EveryTileShape) {
  // With and without a zero point, a lower clamp and an upper clamp, also clamps that cut off only
  // the type's last value.
  static constexpr Requantization kRequantizations[] = {
      {0, 0, 255, kU8},    {0, 0, 254, kU8},   {0, 1, 255, kU8},       {3, 3, 255, kU8},
      {128, 3, 250, kU8},  {255, 0, 255, kU8}, {0, -128, 127, kS8},    {0, -127, 127, kS8},
      {0, -128, 126, kS8}, {0, 0, 127, kS8},   {-128, -128, 127, kS8}, {127, -100, 100, kS8},
      {-5, -128, 127, kS8}};
  static_assert(std::size(kRequantizations) == 13,
                "prime to the number of byte pairs, so that each meets each");
  size_t turn = 0;
  each_tile([&](const TileCase& c) {
    check(kernel(), c, kRequantizations[turn++ % std::size(kRequantizations)]);
  });
}

// Every rest of a row that whole vectors leave is multiplied, and no byte behind it is read.
// Kernels may have loops of their own for little depth.
TEST_P(Kernel, EveryDepth) {
  for (size_t depth = 1; depth <= 70; ++depth)
    for (const size_t rows : row_counts(kernel().mr))
      for (const size_t less : {0, 1})
        for (const bool flip : {false, kernel().is(octet::kAnyLhs)})
          check(kernel(),
                {rows, kernel().nr - less, depth, flip, -1, -1, false,
                 depth % 2 ? Side::kBack : Side::kFront},
                less ? Requantization{3, -100, 100, kS8} : Requantization{3, 0, 255, kU8});
}

// Some kernels multiply few columns in ways of their own, which depend on the depth.
TEST_P(Kernel, FewColumns) {
  for (size_t cols = 1; cols <= std::min<size_t>(kernel().nr, 9); ++cols)
    for (const size_t rows : row_counts(kernel().rows_of(cols)))
      for (const size_t depth : {15, 16, 63, 64, 65, 70, 127, 128, 131, 141})
        for (const bool flip : {false, kernel().is(octet::kAnyLhs)}) {
          const TileCase c = {rows, cols, depth,          flip,
                              -1,   -1,   depth % 2 == 0, cols % 2 ? Side::kBack : Side::kFront};
          check(kernel(), c, {3, -100, 100, kS8});
          if (HasFatalFailure()) return;
        }
}

// Some kernels flip the rows of a call with many columns first, part by part where they are deep.
TEST_P(Kernel, FlipsDeepRows) {
  if (!kernel().is(octet::kAnyLhs)) GTEST_SKIP() << kernel().name << " takes one sign only";
  for (const size_t less : {0, 3})
    for (const size_t rows : row_counts(kernel().mr))
      for (const size_t depth : {127, 128, 136, 1019, 1040, 4097})
        check(kernel(),
              {rows, kernel().nr - less, depth, true, -1, -1, depth % 8 == 0,
               less ? Side::kBack : Side::kFront},
              {3, -100, 100, kS8});
}

// Deep weights that are not decoded yet are decoded part by part.
TEST_P(Kernel, DecodesPartByPart) {
  const octet::Decoder& decoder = kernel().decoder;
  if (!decoder.room) GTEST_SKIP() << kernel().name;
  const octet::RhsLayout& layout = kernel().rhs_layout;
  for (const size_t cols : {size_t{1}, kernel().nr / size_t{2} + 1, size_t{kernel().nr}}) {
    const size_t lanes = std::min<size_t>(kernel().nr, layout.lanes(cols)),
                 part = octet::kInt4PartBytes / decoder.group_bytes /
                        octet::divide_up(lanes, layout.width) * layout.kr;
    for (const size_t depth : {part - 1, part, part + 1, 2 * part, 2 * part + 5})
      for (const size_t rows : {size_t{1}, size_t{kernel().mr}})
        for (const bool flip : {false, kernel().is(octet::kAnyLhs)}) {
          const TileCase c = {rows, cols, depth,          flip,
                              -1,   -1,   depth % 8 == 0, cols > 1 ? Side::kBack : Side::kFront};
          check(kernel(), c, {3, -100, 100, kS8});
        }
  }
}

// One call takes any number of rows, at each depth of its range, or around the ends, and deeper.
TEST_P(Kernel, TakesMicroPanelsOfAnyHeight) {
  if (!kernel().multiply_micro_panel) GTEST_SKIP() << kernel().name << " takes tile by tile";
  MicroKernel micro_panel = kernel();
  micro_panel.multiply = kernel().multiply_micro_panel;
  micro_panel.flags = (uint16_t)(micro_panel.flags & ~octet::kRowInit);
  const auto& range = micro_panel.micro_panel;
  const size_t mr = micro_panel.rows_of(range.most_columns), least = range.least, most = range.most;
  const auto next = [&](size_t depth) {
    return depth == least + 66 ? most - 17 : depth < most ? depth + 1 : depth + most / 2 + 4;
  };
  size_t columns = range.most_columns, turn = 0;
  for (size_t depth = least; depth <= (range.deeper ? 3 * most : most); depth = next(depth))
    for (const size_t rows : {size_t{1}, mr - 1, mr, mr + 1, 2 * mr, 3 * mr + 2, 5 * mr - 1,
                              depth > most ? 16 * mr + 2 : 4 * mr})
      for (const bool flip : {false, micro_panel.is(octet::kAnyLhs)}) {
        columns = columns > range.least_columns ? columns - 1 : range.most_columns;
        const Side side = depth % 2 ? Side::kBack : Side::kFront;
        const TileCase c = {rows, columns, depth, flip, -1, -1, false, side, depth % 12 == 0};
        KernelTile work(micro_panel, c);
        const bool odd = rows % 2;
        check_requantize(micro_panel, c, work, {-7, odd ? -100 : -128, odd ? 100 : 127, kS8});
        check_requantize(micro_panel, c, work, {odd ? 7 : 0, odd ? 0 : 3, odd ? 255 : 250, kU8});
        if (HasFatalFailure()) return;
        if (rows <= mr || depth % (range.taps ? 4 : 7)) continue;
        TileCase words = c;  // s32 may have all columns of a tile
        if (range.taps) words.cols = 1 + (27 * turn++ + depth / 4) % micro_panel.words_nr();
        KernelTile of_words(micro_panel, words);
        check_s32(micro_panel, words, of_words);
      }
}

// Deep tiles write over what shallow ones keep in their room.
TEST_P(Kernel, KeepsNothingThatDeepRowsWriteOver) {
  const MicroKernel& k = kernel();
  if (!k.micro_panel.deeper) GTEST_SKIP() << k.name << " takes no deep rows at once";
  const size_t shallow = k.micro_panel.most / 2, deep = 3 * shallow + 4;
  KernelTile work(k, {26, k.nr, deep, false, -1, -1, false, Side::kBack});
  octet::Tile& tile = work.tile();
  const size_t outputs = tile.rows * tile.cols;
  std::vector<int32_t> first(outputs), other(outputs), again(outputs);
  tile.row_init = nullptr;
  tile.dst_stride = tile.cols * sizeof(int32_t);
  for (auto* out : {&first, &other, &again}) {
    tile.depth = out == &other ? deep : shallow;
    tile.dst = out->data();
    k.multiply_micro_panel(tile);
  }
  EXPECT_NE(first, other);
  EXPECT_EQ(first, again);
}

// Names drive forcing, tests and benches, so they must agree with the constants.
TEST(KernelTable, NamesTellTheTile) {
  for (const MicroKernel* kernel : table()) {
    const std::string tile = std::to_string(kernel->mr) + 'x' + std::to_string(kernel->nr) + 'x' +
                             std::to_string(kernel->rhs_layout.kr);
    const std::string name = kernel->name;
    EXPECT_EQ(name.substr(name.rfind('_') + 1), tile);
    EXPECT_EQ(octet::find(octet::int8_kernels(), kernel->name), kernel);
  }
  EXPECT_EQ(octet::find(octet::int8_kernels(), "avx1024_u8s8_1x1x1"), nullptr);
}

}  // namespace
}  // namespace octet_test
