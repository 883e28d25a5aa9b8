// SPDX-License-Identifier: Apache-2.0
// A tile of work for a micro-kernel, with operands laid out by the formula, and its products.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/generic/int4.h"
#include "support/guarded.h"
#include "support/kernels.h"
#include "support/reference.h"
#include "support/sparse.h"

namespace octet_test {

inline int32_t read(uint8_t byte, octet::ElementType element_type) {
  return element_type == octet::ElementType::kU8 ? byte : (int8_t)byte;
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
inline size_t stride_of(const TileCase& c) { return c.overlap ? c.depth / 8 * 4 : c.depth + 3; }

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
      const bool mild = c.lhs_byte < 0 && one_in && byte % one_in && at / c.depth / 24 % 2 == 0;
      if (mild) byte = byte >> 25 ^ (c.flip ? 0x80 : 0);
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
  octet::RhsLayout layout_;
  Guarded lhs_, rhs_, init_, row_init_, column_factors_, panel_, decoded_, room_, sums_, notes_;
  std::vector<int32_t> rows_, columns_;  // the values of the operands: [rows][depth], [cols][depth]
  std::vector<int32_t> products_;        // [rows][cols]
  octet::Tile tile_ = {};
};

}  // namespace octet_test
