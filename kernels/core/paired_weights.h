// SPDX-License-Identifier: Apache-2.0
// Describes panels of s8 weights whose pairs along K cannot saturate 16 bits.
//
// VPMADDUBSW multiplies u8 by s8, adds neighbours and saturates at 16 bits. It is exact for every
// lhs if, in each pair of weights, neither the positive nor the negative ones sum to more than 128
// in magnitude: 255 * 128 < 2^15. Few pairs of the original order meet this in all 16 columns of a
// panel, so each 16 steps are reordered until most do. Every panel has an order of its own, for
// which the kernel reorders the lhs by one byte shuffle per vector. The excess of a pair that still
// does not fit moves to extras: groups that the kernel multiplies in addition.
//
//     panel: weights, 64 bytes per group of 4 steps: 16 columns x 4
//     | the tables of each part, in order of depth:
//         order, 64 bytes per window: for each place its step within the window, of the same 16
//         steps, or kNoStep
//         | extras, 64 bytes each: weights for the places of two groups, of one in columns 0-7 and
//         of the other in columns 8-15
//         | 64 bytes: PairTable
//
// The weights have no gaps: the hardware's prefetchers lose a stream that skips lines, and then a
// product of one row reads memory at half of its bandwidth. A part with more extras than there is
// room for keeps its weights in their original order and is multiplied as int16.
#pragma once

#include "kernels/core/packed_layout.h"

namespace octet {

constexpr int kPairLimit = 128;
constexpr size_t kPairColumns = 16;                     // of a panel
constexpr size_t kPairGroup = 4, kPairGroupBytes = 64;  // steps and bytes of a panel's group
constexpr size_t kPairLane = 16;                        // steps that are reordered, of a VPSHUFB
constexpr size_t kPairWindow = 64, kPairPart = 512;     // steps of a cache line of order, of a part
constexpr size_t kPairHalf = kPairColumns / 2;          // columns whose extras are of one group
constexpr size_t kPairRoom = 3;  // extras that there is room for, per window and once more
static_assert(kPairPart % kPairWindow == 0 && kPairWindow % kPairGroup == 0, "no gaps");
constexpr uint8_t kNoStep = 0x80, kPlainPart = 0xff;

// Follows a part's extras.
struct PairTable {
  uint8_t extras;  // their count, or kPlainPart
  uint8_t unused[3];
  uint8_t groups[2][30];  // the groups of each extra's halves, counted from the part's first
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
        room(kPairRoom * (windows + 1)) {}
  constexpr size_t order() const { return 0; }
  constexpr size_t extras() const { return windows; }
  constexpr size_t table() const { return windows + room; }
  constexpr size_t tables() const { return table() + 1; }  // groups of all pieces
};
static_assert(PairPart(kPairPart).room <= sizeof PairTable::groups[0], "each extra is told");
static_assert(PairPart(kPairPart).groups <= 256, "a group's number is a byte");

// The same per lane: a window has an order and room for extras, a part has a PairTable.
constexpr PanelTable kPairWindowTable = {kPairWindow, (1 + kPairRoom) * kPairGroup},
                     kPairPartTable = {kPairPart, (1 + kPairRoom) * kPairGroup};

}  // namespace octet
