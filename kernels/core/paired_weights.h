// SPDX-License-Identifier: Apache-2.0
// Describes panels of s8 weights whose pairs along K cannot saturate 16 bits.
//
// VPMADDUBSW multiplies u8 by s8, adds neighbours and saturates at 16 bits. It is exact for every
// lhs if, in each pair of weights, neither the positive nor the negative ones sum to more than 128
// in magnitude: 255 * 128 < 2^15. Few pairs of the original order meet this, so each part of the
// depth is reordered until most do; the columns of a block share one order, and the kernel reorders
// the lhs to match. The excess of a pair that still does not fit moves to extras: groups that the
// kernel multiplies in addition.
//
//     panel: weights, 64 bytes per group of 4 steps: 16 columns x 4
//     | the tables of each part, in order of depth:
//         order, 64 bytes per window: for each place its step within the window, or kNoStep
//         | extras, 64 bytes each: weights for the places of one group
//         | 64 bytes: PairTable
//
// The weights have no gaps: the hardware's prefetchers lose a stream that skips lines, and then a
// product of one row reads memory at half of its bandwidth. All panels of a block have the same
// order. A part with more extras than there is room for keeps its weights in their original order
// and is multiplied as int16.
#pragma once

#include "kernels/core/packed_layout.h"

namespace octet {

constexpr int kPairLimit = 128;
constexpr size_t kPairColumns = 16, kPairBlock = 64;    // columns of a panel, of a block
constexpr size_t kPairGroup = 4, kPairGroupBytes = 64;  // steps and bytes of a panel's group
constexpr size_t kPairWindow = 64, kPairPart = 512;     // steps of one order, of a part
constexpr size_t kPairChunk = 4;                        // extras whose sum fits 16 bits
static_assert(kPairPart % kPairWindow == 0 && kPairWindow % kPairGroup == 0, "no gaps");
constexpr uint8_t kNoStep = 0x80, kPlainPart = 0xff;

// Follows a part's extras.
struct PairTable {
  uint8_t chunks;  // count of chunks of kPairChunk extras, or kPlainPart
  uint8_t unused[3];
  uint8_t groups[60];  // the group of each extra, counted from the part's first
};
static_assert(sizeof(PairTable) == kPairGroupBytes, "as large as a group");

// The groups of weights of a panel, after which its tables follow.
constexpr size_t pair_groups(size_t depth) { return (depth + kPairGroup - 1) / kPairGroup; }

// A part of `depth` steps, and the offsets, in groups, of the pieces of its tables.
struct PairPart {
  size_t groups, windows, room;  // room: groups reserved for extras

  explicit constexpr PairPart(size_t depth)
      : groups(pair_groups(depth)),
        windows((depth + kPairWindow - 1) / kPairWindow),
        room((groups + 15) / 16 * kPairChunk) {}
  constexpr size_t order() const { return 0; }
  constexpr size_t extras() const { return windows; }
  constexpr size_t table() const { return windows + room; }
  constexpr size_t tables() const { return table() + 1; }  // groups of all pieces
};
static_assert(PairPart(kPairPart).room <= sizeof(PairTable::groups), "each extra is told");
static_assert(PairPart(kPairPart).groups <= 256, "a group's number is a byte");

// The same per lane: a window has an order and room for extras, a part has a PairTable.
constexpr PanelTable kPairWindowTable = {kPairWindow, (1 + kPairChunk) * kPairGroup},
                     kPairPartTable = {kPairPart, kPairGroup};

}  // namespace octet
