// SPDX-License-Identifier: Apache-2.0
// Runs the self-test of each tier.
#include "dispatch/self_test/self_test.h"

#include "dispatch/self_test/product.h"
#include "dispatch/self_test/requantize.h"
#include "dispatch/self_test/s16.h"
#include "dispatch/tables/formats.h"
#include "dispatch/tables/tier_ops.h"
#include "kernels/core/compiler.h"
#include "kernels/core/parts.h"
#include "packing/packed_rhs.h"

namespace octet {
namespace {

// Zeroes two of every four weights of a column, each pair of places in turn.
void make_sparse(uint8_t* rhs) {
  constexpr uint8_t kPairs[] = {0x3, 0x5, 0x9, 0x6, 0xa, 0xc};
  for (size_t k = 0; k < kDepth; ++k)
    for (size_t j = 0; j < kTileColumns; ++j)
      if (!(kPairs[(j + k / 4) % 6] >> k % 4 & 1)) rhs[k * kTileColumns + j] = 0;
}

// Halves most weights, so that most pairs fit 16 bits; the others need extras.
void make_pairable(uint8_t (&rhs)[sizeof Operands::rhs]) {
  for (size_t i = 0; i < sizeof rhs; ++i)
    if (i % 67) rhs[i] = (uint8_t)((int8_t)rhs[i] >> 1);
}

// Takes the top bit from most values, for kernels that take small ones another way.
void make_mild(uint8_t (&lhs)[sizeof Operands::lhs]) {
  for (size_t i = 0; i < sizeof lhs; ++i)
    if (i % 67) lhs[i] &= 0x7f;
}

// True if a whole micro-panel of rows gives the same bytes as its tiles one by one, or the same s32
// or floats, each row by a scale of its own. room: two tiles. Not inlined, since multiplies() has
// most of the stack that octet.h allows.
constexpr size_t kTileBytes = kTileRows * kTileColumns;
struct TileScales {
  float columns[kTileColumns] = {}, rows[kTileRows] = {};
  constexpr TileScales() {
    for (float& scale : columns) scale = 1.0f / 4096;  // outputs fill their range
    for (size_t i = 0; i < kTileRows; ++i) rows[i] = (float)(i + 1);
  }
};
constexpr TileScales kTileScales;
enum class Outputs { kBytes, kFloats, kSums };
__attribute__((noinline)) bool micro_panels_as_tiles(const MicroKernel& kernel, Tile* of,
                                                     Outputs outputs, uint8_t* room) {
  Tile& tile = *of;  // no copy: the stack is deepest here
  const size_t cols = tile.cols;
  const bool bytes = outputs == Outputs::kBytes, floats = outputs == Outputs::kFloats;
  uint8_t *const micro_panel = room, *const tiles = room + kTileBytes;
  memset(room, 0, 2 * kTileBytes);
  Requantization requantization = {-3, -128, 127, ElementType::kS8};
  requantization.to_floats = floats;
  const size_t element = bytes ? 1 : sizeof(float);
  if (bytes) tile.cols = smaller(tile.cols, kernel.micro_panel.most_columns);
  const size_t rows = smaller(kTileRows, kTileBytes / (tile.cols * element));
  tile.rows = rows;
  tile.scale = outputs == Outputs::kSums ? nullptr : kTileScales.columns;
  tile.row_scale = floats ? kTileScales.rows : nullptr;
  tile.requantization = &requantization;
  tile.dst_stride = tile.cols * element;
  tile.dst = micro_panel;
  if (tile.room) memset(tile.room, 0, kRoomHead);
  kernel.multiply_micro_panel(tile);
  const uint8_t* const lhs = (const uint8_t*)tile.lhs;
  for (size_t row = 0; row < rows; row += tile.rows) {
    tile.rows = smaller(kernel.mr, rows - row);
    tile.lhs = lhs + row * tile.lhs_stride;
    tile.dst = tiles + row * tile.dst_stride;
    if (floats) tile.row_scale = kTileScales.rows + row;
    kernel.multiply(tile);
  }
  tile.cols = cols;
  tile.lhs = lhs;
  return memcmp(micro_panel, tiles, kTileBytes) == 0;
}
bool micro_panels_as_tiles(const MicroKernel& kernel, Tile* tile, uint8_t* room) {
  const bool words = kernel.is(kStoresFloats) && kernel.micro_panel.taps;
  return micro_panels_as_tiles(kernel, tile, Outputs::kBytes, room) &&
         (!words || (micro_panels_as_tiles(kernel, tile, Outputs::kFloats, room) &&
                     micro_panels_as_tiles(kernel, tile, Outputs::kSums, room)));
}

// True if arranged rows, flipped or not, give the sums of tiles one by one: of whole panels and of
// their first columns, of sixes and a rest. The weights are those of the first depth, and no others
// are parts of a group, because beyond a depth weights are 0. room: two tiles. Not inlined, as
// above.
__attribute__((noinline)) bool arranged_as_tiles(const MicroKernel& kernel, Tile tile,
                                                 uint8_t* room) {
  constexpr size_t kRows = 13, kDepths[] = {37, 36, 28};
  constexpr uint32_t kFlips[] = {0, 0x80808080};
  alignas(64) uint8_t arranged[kRows * kAlignment];
  const Rows rows = {(const uint8_t*)tile.lhs, tile.lhs_stride, kRows, 0, 0};
  const size_t columns[] = {tile.cols, tile.cols - 4};
  for (const size_t cols : columns)
    for (const size_t depth : kDepths)
      for (const uint32_t flip : kFlips) {
        memset(room, 0, 2 * kTileBytes);
        Rows flipped = rows;
        flipped.depth = tile.depth = depth, flipped.flip = (uint8_t)flip;
        kernel.arrange_rows(flipped, kAlignment, arranged);
        tile.cols = cols, tile.dst_stride = cols * sizeof(int32_t);
        Tile all = tile;
        all.lhs_flip = 0;
        all.lhs = arranged, all.lhs_stride = kAlignment, all.lhs_arranged = true;
        all.rows = kRows;
        all.dst = room;
        kernel.multiply_micro_panel(all);
        tile.lhs_flip = flip;
        for (size_t row = 0; row < kRows; row += tile.rows) {
          tile.rows = smaller(kernel.mr, kRows - row);
          tile.lhs = rows.row(row);
          tile.dst = room + kTileBytes + row * tile.dst_stride;
          kernel.multiply(tile);
        }
        if (memcmp(room, room + kTileBytes, kTileBytes) != 0) return false;
      }
  return true;
}

// True if rows of a convolution give the same bytes in one call as tile by tile: rows that overlap
// and rows that do not, of several taps, deeper together than a part of AVX2's words, by several
// panels of weights, which begin a group apart. Not inlined, as above.
__attribute__((noinline)) bool walks_taps(const MicroKernel& kernel) {
  constexpr size_t kTaps = 3, kTapDepth = 56, kGroups = kTaps * kTapDepth / 4;
  constexpr ptrdiff_t kTapSteps[kTaps - 1] = {24, 16};
  const RhsLayout& layout = kernel.rhs_layout;
  Operands operands;
  alignas(64) uint8_t weights[(kGroups + 2) * 96], room[2 * kTileBytes],
      decoded[kRoomHead + kTapDepth / 4 * 128];  // a tap of a panel
  const size_t group = layout.width * layout.group_bytes(),
               panels = divide_up(kernel.nr, layout.width);
  Tile tile = make_tile(operands.lhs, weights, 1, kTileRows, kernel.nr, nullptr);
  tile.rhs_panel_stride = group;
  if (layout.has_tables()) {  // one panel in the place of all
    make_pairable(operands.rhs);
    const size_t tap = layout.width * layout.lane_bytes(kTapDepth);
    if (kTaps * tap > sizeof weights) return false;
    for (size_t i = 0; i < kTaps; ++i)
      find_format_of(layout)->packing->pack(layout,
                                            {operands.rhs + i, layout.width, kTapDepth, 1,
                                             kTapDepth, layout.element_type, nullptr, 0},
                                            0, layout.width, weights + i * tap);
    tile.rhs_panel_stride = 0;
  } else if ((kGroups + panels - 1) * group > sizeof weights) {
    return false;
  } else {
    for (size_t i = 0; i < sizeof weights; ++i)
      weights[i] = operands.rhs[i % (sizeof operands.rhs - 1)];
  }
  tile.depth = kTapDepth;
  tile.tap_steps = kTapSteps;
  tile.rhs_stride = group;
  constexpr size_t kStrides[] = {8, 33};
  const auto walks = [&] {
    for (tile.cols = kernel.nr; tile.cols >= larger(kernel.micro_panel.least_columns, 1);
         tile.cols = tile.cols > 16 ? tile.cols - 16 : tile.cols / 2)
      for (const size_t lhs_stride : kStrides) {
        const bool decodes = tile.cols <= layout.width && kernel.micro_panel.room;
        tile.lhs_stride = lhs_stride;
        tile.taps = decodes ? 1 : kTaps;
        tile.room = decodes ? decoded : nullptr;
        if (!micro_panels_as_tiles(kernel, &tile, room)) return false;
      }
    return true;
  };
  if (!walks()) return false;
  make_mild(operands.lhs);
  return walks();
}

// True if one tap's rows, flipped or not, add their products to the sums at their places, twice,
// and nothing to the sums behind; all columns, a panel, and half of one. Not inlined, as above.
__attribute__((noinline)) bool adds_taps(const MicroKernel& kernel) {
  constexpr size_t kCounts[] = {1, 2, 3, 4, 5, 6, 10, 13, 20}, kDepths[] = {4, 28, 36};
  constexpr uint32_t kFlips[] = {0, 0x80808080};
  constexpr size_t kMost = 20, kRows = 13, kColumns = 32;
  const RhsLayout& layout = kernel.rhs_layout;
  const size_t columns = layout.width * kernel.tap_panels;
  Operands operands;
  alignas(64) uint8_t packed[kColumns * kDepth];
  if (columns > kColumns || layout.bytes(columns, kDepth - 1) > sizeof packed) return false;
  if (layout.has_tables()) make_pairable(operands.rhs);
  for (const size_t depth : kDepths) {
    find_format_of(layout)->packing->pack(
        layout, {operands.rhs, columns, depth, columns, 1, layout.element_type, nullptr, 0}, 0,
        columns, packed);
    for (const size_t count : kCounts)
      for (const uint32_t flip : kFlips)
        for (size_t some = columns; some >= layout.width / 2u; some /= 2) {
          const uint8_t* rows[kMost];
          uint16_t places[kMost];
          alignas(64) int32_t sums[(kMost + 1) * kColumns] = {};
          for (size_t i = 0; i < count; ++i) {
            places[i] = (uint16_t)(count - 1 - i);
            rows[i] = operands.lhs + places[i] % kRows * kDepth;
          }
          const TapRows tap = {
              rows, places, count, depth, flip, packed, layout.width * layout.lane_bytes(depth),
              some, sums};
          kernel.add_tap(tap);
          kernel.add_tap(tap);
          for (size_t j = 0; j < columns; ++j)
            if (sums[count * columns + j]) return false;
          for (size_t i = 1; i < count; ++i)  // rows of these columns alone
            memmove(sums + i * some, sums + i * columns, some * sizeof *sums);
          if (!is_product(
                  sums, count, some,
                  [&](size_t i, size_t k) {
                    return 2 * value(operands.lhs[i % kRows * kDepth + k] ^ (uint8_t)flip,
                                     kernel.lhs_element_type);
                  },
                  [&](size_t k, size_t j) {
                    return value(operands.rhs[k * columns + j], layout.element_type);
                  },
                  depth))
            return false;
        }
  }
  return true;
}

bool multiplies(const MicroKernel& kernel, size_t rows, size_t columns, size_t depth) {
  const bool steps = depth == kStepsDepth;
  const size_t lhs_stride = steps ? kStepsLhsStride : kDepth,
               rhs_stride = steps ? kStepsRhsStride : kTileColumns;
  Operands operands;
  // Kernels that read rows in place may have packed weights in the place of the lhs's panel, too
  constexpr size_t kLhsPanelBytes = 1536;
  alignas(64) uint8_t packed[kPanelBytes + kLhsPanelBytes];
  uint8_t* const panel = packed + kPanelBytes;
  alignas(64) int32_t out[kMaxTile];
  const RhsLayout& layout = kernel.rhs_layout;
  if (layout.bytes(columns, depth) > (kernel.gather ? kPanelBytes : sizeof packed) ||
      (kernel.gather && kernel.lhs_panel_bytes(depth) > kLhsPanelBytes))
    return false;
  uint8_t(&rhs)[sizeof operands.rhs] = operands.rhs;
  if (steps) make_mild(operands.lhs);
  if (kernel.is(kNoInt8Min))
    for (uint8_t& byte : rhs) byte = byte == 0x80 ? 0x81 : byte;
  // Weights that the layout has bits for
  const int unused = layout.sparse() || layout.bits >= 8 ? 0 : 8 - layout.bits;
  for (uint8_t& byte : rhs) byte = (uint8_t)((int8_t)(byte << unused) >> unused);
  if (layout.sparse()) make_sparse(rhs);
  if (layout.has_tables()) make_pairable(rhs);
  // Weights are decoded to the place where the products come later
  uint8_t* const weights = kernel.decoder.room ? (uint8_t*)out : packed;
  const auto pack = [&](size_t k) {
    find_format_of(layout)->packing->pack(
        layout, {rhs, columns, k, rhs_stride, 1, layout.element_type, nullptr, 0}, 0, columns,
        weights);
  };
  pack(depth);
  const uint8_t* const lhs = operands.lhs;
  if (kernel.gather)
    kernel.gather({lhs, lhs_stride, rows, depth, 0}, round_up(rows, kernel.lhs_lanes_step), panel);
  Tile tile = make_tile(kernel.gather ? panel : lhs, packed, 1, rows, columns, out);
  tile.lhs_stride = lhs_stride;
  tile.depth = depth;
  tile.rhs_stride = layout.panel_width(0, columns) * layout.group_bytes();
  tile.rhs_panel_stride = layout.width * layout.lane_bytes(depth);
  if (kernel.decoder.room) {
    const size_t groups = divide_up(depth, layout.kr), stride = groups * kernel.decoder.group_bytes;
    if (divide_up(columns, layout.width) * stride > kPanelBytes) return false;
    decode_panels(kernel, weights, tile.rhs_stride, tile.rhs_panel_stride, columns, groups, packed);
    tile.rhs_decoded = true;
    tile.rhs_stride = kernel.decoder.operand_stride;
    tile.rhs_panel_stride = stride;
  }
  if (kernel.multiply_micro_panel && rounds_to_nearest()) {
    Tile rows_of_all = tile;
    if (kernel.decoder.decode && !tile.rhs_decoded) {  // one panel, for all rows
      const size_t at = round_up(layout.bytes(columns, depth), kAlignment),
                   groups = divide_up(depth, layout.kr);
      if (at + groups * kernel.decoder.group_bytes > sizeof packed) return false;
      kernel.decoder.decode(packed, tile.rhs_stride, groups, packed + at);
      rows_of_all.rhs = packed + at;
      rows_of_all.rhs_decoded = true;
      rows_of_all.cols = smaller(columns, layout.width);
    }
    // Whole groups of four, and few columns, are multiplied in loops of their own
    const size_t depths[] = {depth - depth % 4, depth};
    const size_t least_columns = larger(kernel.micro_panel.least_columns, 1);
    for (const size_t of_tile : depths) {
      Tile some = rows_of_all;
      some.depth = of_tile;
      if (layout.has_tables()) {  // which lie behind the weights of this depth
        pack(of_tile);
        some.rhs_panel_stride = layout.width * layout.lane_bytes(of_tile);
      }
      for (; some.cols >= least_columns; some.cols /= 2)
        if (!micro_panels_as_tiles(kernel, &some, (uint8_t*)out)) return false;
    }
    if (kernel.arrange_rows && !arranged_as_tiles(kernel, tile, (uint8_t*)out)) return false;
  }
  kernel.multiply(tile);
  return is_product(
      out, rows, columns,
      [&](size_t i, size_t k) { return value(lhs[i * lhs_stride + k], kernel.lhs_element_type); },
      [&](size_t k, size_t j) { return value(rhs[k * rhs_stride + j], layout.element_type); },
      depth);
}

// A kernel with steps may have code of its own for each count of panels, for depths of a part of a
// step, and for those of whole groups.
bool multiplies_steps(const MicroKernel& kernel) {
  constexpr size_t kDepths[] = {kDepth - 1, kDepth, kStepsDepth};
  const size_t width = kernel.rhs_layout.width;
  for (size_t columns = width; columns <= kernel.nr; columns += width)
    for (const size_t depth : kDepths)
      if (!multiplies(kernel, kernel.rows_of(columns), columns, depth) ||
          !multiplies(kernel, divide_up(kernel.rows_of(columns), 2), columns, depth))
        return false;
  return true;
}

bool multiplies_few(const MicroKernel& kernel) {
  const size_t columns = kernel.few_nr, rows = kernel.rows_of(columns);
  return columns == 0 || (multiplies(kernel, kernel.mr, columns, kStepsDepth) &&
                          (rows <= kernel.mr || multiplies(kernel, rows, columns, kStepsDepth)));
}

}  // namespace

// Computed through memory, so that no compiler folds it and no wide register keeps excess
// precision.
bool rounds_to_nearest() {
  float step = 1.0f / (1 << 23);  // above 1
  spill(step);
  float less = 1.0f + step / 2, more = 1.0f + step * 3 / 4;
  spill(less);
  spill(more);
  return less == 1.0f && more == 1.0f + step;
}

bool passes(const TierOps& ops) {
  if (!rounds_to_nearest()) return true;
  const FloatCases cases(Accumulators::kAll);
  return epilogue_is_right(ops, cases) && quantizes(ops) &&
         OCTET_IF(INT16, computes_s16(ops, cases), true);
}

bool passes(const MicroKernel& kernel) {
  const KernelState state(&kernel);
  const bool requantizing = kernel.is(kRequantizes) && rounds_to_nearest();
  const auto passes_tile = [&](size_t rows, size_t columns) {
    return multiplies(kernel, rows, columns, kDepth) &&
           (!requantizing || requantizes(kernel, rows, columns));
  };
  const size_t columns = smaller(kernel.words_nr(), kTileColumns);
  // Kernels that decode weights may do so in registers for few rows
  return passes_tile(smaller(kernel.mr, kTileRows), columns) &&
         (!kernel.decoder.decode || multiplies(kernel, 1, columns, kDepth)) &&
         (kernel.step_depth == 1 || multiplies_steps(kernel)) && multiplies_few(kernel) &&
         (!kernel.add_tap || adds_taps(kernel)) &&
         (!kernel.tall_nr || passes_tile(smaller(kernel.tall_mr, kTileRows), kernel.tall_nr)) &&
         (!kernel.multiply_micro_panel || !requantizing || requantizes_micro_panels(kernel)) &&
         (!kernel.micro_panel.taps || !requantizing || walks_taps(kernel));
}

TierMask failing_tiers(const KernelList& kernels, const CpuFeatures& cpu) {
  TierMask looked_at = 0, failing = 0;
  for (const MicroKernel* kernel : kernels) {
    const TierMask tier = mask_of(kernel->tier_id);
    if (!supports(cpu, *kernel)) continue;
    if (!(looked_at & tier)) {
      const TierOps& ops = ops_of(kernel->tier_id);
      if (!passes(ops) || !looks_up(ops, cpu.features)) failing |= tier;
    }
    looked_at |= tier;
    if (!kernel->is(kOptional) && !passes(*kernel)) failing |= tier;
  }
  return failing;
}

bool passes_optional(const KernelList& kernels, const CpuFeatures& cpu) {
  for (const MicroKernel* kernel : kernels)
    if (kernel->is(kOptional) && supports(cpu, *kernel) && !passes(*kernel)) return false;
  return true;
}

}  // namespace octet
