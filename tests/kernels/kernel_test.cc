// SPDX-License-Identifier: Apache-2.0
// Checks micro-kernels by themselves, with operands laid out by the formula.
#include <algorithm>
#include <numeric>
#include <random>

#include "kernels/generic/int4.h"
#include "support/guarded.h"
#include "support/kernels.h"
#include "support/reference.h"
#include "support/sparse.h"

namespace octet_test {
namespace {

using octet::ElementType;
using octet::Requantization;
using octet::RhsLayout;
constexpr ElementType kS8 = ElementType::kS8, kU8 = ElementType::kU8;

int32_t read(uint8_t byte, ElementType element_type) {
  return element_type == ElementType::kU8 ? byte : (int8_t)byte;
}

// One tile of work. Bytes are of the kernel's element types, except that a flipped lhs arrives in
// the other one.
struct TileCase {
  size_t rows, cols, depth;
  bool flip;
  int lhs_byte, rhs_byte;  // -1 = random
  bool init_per_row;
  Side side;
  bool overlap = false;  // of the lhs rows
};
size_t stride_of(const TileCase& c) { return c.overlap ? c.depth / 8 * 4 : c.depth + 3; }

class KernelTile {
 public:
  KernelTile(const MicroKernel& kernel, const TileCase& c)
      : kernel_(kernel), c_(c), layout_(kernel.rhs_layout) {
    std::mt19937 random((uint32_t)(c.rows * 7919 + c.cols * 104729 + c.depth));
    const size_t lanes = octet::round_up(c.cols, layout_.step),
                 padded_depth = layout_.steps(c.depth), lane_bytes = layout_.lane_bytes(c.depth),
                 lhs_stride = stride_of(c);
    lhs_ = Guarded((c.rows - 1) * lhs_stride + c.depth, c.side);
    const uint32_t one_in = (uint32_t)((c.rows + c.depth) % 3) * 500;  // the others are mild
    for (size_t at = 0; at < c.rows * c.depth; ++at) {
      uint32_t byte = c.lhs_byte < 0 ? random() : (uint32_t)c.lhs_byte;
      if (c.lhs_byte < 0 && one_in && byte % one_in) byte = byte >> 25 ^ (c.flip ? 0x80 : 0);
      lhs_.data()[at / c.depth * lhs_stride + at % c.depth] = (uint8_t)byte;
    }
    for (size_t at = 0; at < c.rows * c.depth; ++at) {  // now, for rows may overlap
      const uint8_t byte = lhs_.data()[at / c.depth * lhs_stride + at % c.depth];
      rows_.push_back(read((uint8_t)(byte ^ (c.flip ? 0x80 : 0)), kernel.lhs_element_type));
    }
    rhs_ = Guarded(lanes * lane_bytes, c.side);
    std::memset(rhs_.data(), 0, rhs_.bytes());
    columns_.reserve(c.depth * c.cols);
    for (size_t j = 0; j < c.cols; ++j) {
      const size_t panel = j / layout_.width * layout_.width, kr = layout_.kr,
                   width = std::min<size_t>(layout_.width, lanes - panel);
      uint8_t* const panels = rhs_.data() + panel * lane_bytes;
      for (size_t k = 0; k < c.depth; ++k) {
        uint8_t byte = (uint8_t)(c.rhs_byte < 0 ? random() : (uint32_t)c.rhs_byte);
        if (kernel.is(octet::kNoInt8Min) && byte == 0x80) byte = 0x81;
        if (layout_.is_4bit()) byte = four_bits(byte);
        if (layout_.sparse() && !stored(k, j)) byte = 0;
        columns_.push_back(read(byte, layout_.element_type));
        if (!layout_.sparse() && !layout_.is_4bit())
          panels[k / kr * width * kr + (j - panel) * kr + k % kr] = byte;
        else if (!layout_.sparse())
          put_nibble(k, j - panel, width, byte, panels);
        else if (stored(k, j))
          put_sparse(k, j, padded_depth, byte);
      }
    }
    if (const auto complete = octet::find_format_of(layout_)->packing->complete)
      complete(layout_, lanes, 1, c.depth, rhs_.data());
    init_ =
        Guarded((c.init_per_row ? c.rows : 1) * lanes * sizeof(int32_t), c.side, sizeof(int32_t));
    for (size_t i = 0; i < init_.bytes() / 4; ++i) init_.data<int32_t>()[i] = (int32_t)random();

    const octet::Rows rows = {lhs_.data(), lhs_stride, c.rows, c.depth,
                              (uint8_t)(c.flip ? 0x80 : 0)};
    tile_.lhs = lhs_.data();
    tile_.lhs_stride = lhs_stride;
    tile_.lhs_flip = c.flip ? 0x80808080u : 0;
    if (kernel.gather) {
      const size_t panel_lanes = octet::round_up(c.rows, kernel.lhs_lanes_step);
      panel_ = Guarded(
          octet::round_up(
              panel_lanes * octet::round_up(c.depth, kernel.lhs_kr) * kernel.lhs_element_bytes, 64),
          c.side, 64);
      kernel.gather(rows, panel_lanes, panel_.data());
      tile_.lhs = panel_.data();
    }
    tile_.rhs = rhs_.data();
    tile_.rhs_stride = std::min<size_t>(layout_.width, lanes) * layout_.group_bytes();
    tile_.rhs_panel_stride = layout_.width * lane_bytes;
    if (kernel.decoder.decode && (c.depth % 2 || c.depth % 8 == 4)) decode(lanes);  // both ways
    room_ = Guarded(c.depth % 8 ? kernel.room_bytes(1, c.depth) : kernel.decoder.room, c.side, 64);
    if (room_.bytes()) tile_.room = room_.data();
    tile_.depth = c.depth;
    tile_.rows = c.rows;
    tile_.cols = c.cols;
    tile_.init = init_.data<int32_t>();
    tile_.init_stride = c.init_per_row ? lanes : 0;
    set_row_terms(c, lanes, random);
    if (kernel.ahead.note && c.depth % 2) {  // both ways for each shape
      sums_ = Guarded(kernel.sums_bytes(1), c.side, 64);
      notes_ = Guarded(kernel.ahead.note_bytes, c.side, 64);
      void* const end = kernel.ahead.note(tile_, sums_.data<int32_t>(), notes_.data());
      kernel.ahead.sum(notes_.data(), end);
      tile_.sums = sums_.data<int32_t>();
    }
    multiply();
  }

  // To the init. Wraps, as the contract allows for everything but the final value.
  uint32_t added(size_t i, size_t j) const {
    uint32_t sum = (uint32_t)products_[i * c_.cols + j];
    if (tile_.row_init) sum += (uint32_t)tile_.row_init[i];
    if (tile_.row_factors)
      sum -= (uint32_t)tile_.row_factors[i] * (uint32_t)tile_.column_factors[j];
    return sum;
  }
  int32_t expected(size_t i, size_t j) const {
    return (int32_t)((uint32_t)tile_.init[i * tile_.init_stride + j] + added(i, j));
  }

  octet::Tile& tile() { return tile_; }

 private:
  // Rows of one byte have the same products, which are computed once: emulators take long.
  void multiply() {
    for (size_t i = 0; i < c_.rows; ++i)
      for (size_t j = 0; j < c_.cols; ++j) {
        const int32_t *row = rows_.data() + i * c_.depth, *column = columns_.data() + j * c_.depth;
        products_.push_back(i && c_.lhs_byte >= 0
                                ? products_[j]
                                : std::inner_product(row, row + c_.depth, column, 0));
      }
  }

  // Sets the terms of zero points that the kernel takes.
  void set_row_terms(const TileCase& c, size_t lanes, std::mt19937& random) {
    const auto fill = [&](size_t count, Guarded* values) {
      *values = Guarded(count * sizeof(int32_t), c.side, sizeof(int32_t));
      for (size_t i = 0; i < count; ++i) values->data<int32_t>()[i] = (int32_t)random();
      return values->data<int32_t>();
    };
    if (kernel_.is(octet::kRowInit) && c.depth % 3) tile_.row_init = fill(c.rows, &row_init_);
    if (kernel_.is(octet::kRowFactors) && c.depth % 3) {
      tile_.row_factors = fill(c.rows, &row_init_);
      tile_.column_factors = fill(lanes, &column_factors_);
    }
  }

  // Whether a sparse column stores step k: each set of at most two of four places takes its turn.
  static bool stored(size_t k, size_t j) {
    return kSparsePlaces[(j + k / 4 * 5) % std::size(kSparsePlaces)] >> k % 4 & 1;
  }

  void decode(size_t lanes) {
    const octet::Decoder& decoder = kernel_.decoder;
    const size_t groups = layout_.steps(c_.depth) / layout_.kr,
                 panel = groups * decoder.group_bytes;
    decoded_ = Guarded(octet::divide_up(lanes, layout_.width) * panel, c_.side, 64);
    octet::decode_panels(kernel_, tile_.rhs, tile_.rhs_stride, tile_.rhs_panel_stride, lanes,
                         groups, decoded_.data());
    tile_.rhs = decoded_.data();
    tile_.rhs_decoded = true;
    tile_.rhs_stride = decoder.operand_stride;
    tile_.rhs_panel_stride = panel;
  }

  static uint8_t four_bits(uint8_t byte) {
    return (uint8_t)(byte == 0x80 ? -8 : byte == 0x7f ? 7 : (int8_t)(byte << 4) >> 4);
  }

  // Of a group, the first half of the steps is in the low halves of bytes.
  void put_nibble(size_t k, size_t lane, size_t width, uint8_t byte, uint8_t* panel) const {
    const size_t half = layout_.kr / 2, step = k % layout_.kr;
    uint8_t& two = panel[(k / layout_.kr * width + lane) * half + step % half];
    two = (uint8_t)(two | (byte & 15) << (step < half ? 0 : 4));
  }

  // A group is 16 columns and 16 or 32 steps: one line per eight steps with four values of each
  // column, and a line of their places. With 16 steps the places follow and are within the eight,
  // those of the second line in the upper halves of bytes. With 32 steps they precede and are
  // within the four, at bits 0, 4, 2 and 6.
  void put_sparse(size_t k, size_t j, size_t padded_depth, uint8_t byte) {
    const bool tight = layout_.bits == 5;
    const size_t kr = tight ? 32 : 16, lines = kr / 8, line = k / 8 % lines;
    uint8_t* const group =
        rhs_.data() + (j / 16 * (padded_depth / kr) + k / kr) * ((lines + 1) * 64);
    const size_t before = k % 4 && stored(k / 4 * 4, j),
                 earlier = before + (k % 4 > 1 && stored(k / 4 * 4 + 1, j)) +
                           (k % 4 > 2 && stored(k / 4 * 4 + 2, j)),
                 at = j % 16 * 4 + k / 4 % 2 * 2 + earlier;
    group[(tight + line) * 64 + at] = byte;
    static constexpr size_t kTightBits[] = {0, 4, 2, 6};
    uint8_t& places = group[tight ? at : lines * 64 + at];
    places = (uint8_t)(places | (tight ? k % 4 << kTightBits[line] : k % 8 << 4 * line));
  }

  const MicroKernel& kernel_;
  TileCase c_;
  RhsLayout layout_;
  Guarded lhs_, rhs_, init_, row_init_, column_factors_, panel_, decoded_, room_, sums_, notes_;
  std::vector<int32_t> rows_, columns_;  // the values of the operands: [rows][depth], [cols][depth]
  std::vector<int32_t> products_;        // [rows][cols]
  octet::Tile tile_ = {};
};

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

// One call takes any number of rows, at each depth of its range, or around the ends.
TEST_P(Kernel, TakesMicroPanelsOfAnyHeight) {
  if (!kernel().multiply_micro_panel) GTEST_SKIP() << kernel().name << " takes tile by tile";
  MicroKernel micro_panel = kernel();
  micro_panel.multiply = kernel().multiply_micro_panel;
  micro_panel.flags = (uint16_t)(micro_panel.flags & ~octet::kRowInit);
  const auto& range = micro_panel.micro_panel;
  const size_t mr = micro_panel.rows_of(range.most_columns), least = range.least, most = range.most;
  size_t columns = range.most_columns, turn = 0;
  for (size_t depth = least; depth <= most; depth = depth == least + 66 ? most - 17 : depth + 1)
    for (const size_t rows : {size_t{1}, mr - 1, mr, mr + 1, 2 * mr, 3 * mr + 2, 5 * mr - 1})
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
