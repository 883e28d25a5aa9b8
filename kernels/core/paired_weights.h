// Panels of s8 weights whose pairs along K fit 16 bits.
//
// VPMADDUBSW multiplies u8 by s8, adds neighbours and saturates at 16 bits. It is exact for every
// lhs where of each pair of weights neither the positive nor the negative ones sum to more than
// 128: 255 * 128 < 2^15. Few pairs do as they come, so each part of the depth is put in an order in
// which most do, the same for the columns of a block; the kernel puts the lhs in that order, too.
// What pairs have too much is taken from them, and added by groups of four pairs each, extras.
//
//     panel: one part after the other, each
//
//     weights, 64 bytes per group of 4 steps: 16 columns x 4
//     | order, 64 bytes per window: at each place the step within the window, or kNoStep
//     | extras, 64 bytes each: weights for the places of one group
//     | 64 bytes: PairTable
//
// A panel of a block has the same order as the block's others. A part whose extras do not find room
// keeps its weights as they are, and is multiplied as words.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

constexpr int kPairLimit = 128;
constexpr size_t kPairColumns = 16, kPairBlock = 64;    // of a panel, of those in one order
constexpr size_t kPairGroup = 4, kPairGroupBytes = 64;  // steps, bytes of a panel
constexpr size_t kPairWindow = 64, kPairPart = 512;     // steps: one order; what lies together
constexpr size_t kPairChunk = 4;                        // extras whose sums fit together
constexpr uint8_t kNoStep = 0x80, kPlainPart = 0xff;

// Behind a part's extras.
struct PairTable {
  uint8_t chunks;  // of kPairChunk extras, or kPlainPart
  uint8_t unused[3];
  uint8_t groups[60];  // of each extra, counted from the part's first
};
static_assert(sizeof(PairTable) == kPairGroupBytes, "as large as a group");

// Where the pieces of a part of `depth` steps lie, in groups.
struct PairPart {
  size_t groups, windows, room;  // room: for extras

  explicit constexpr PairPart(size_t depth)
      : groups((depth + kPairGroup - 1) / kPairGroup),
        windows((depth + kPairWindow - 1) / kPairWindow),
        room((groups + 15) / 16 * kPairChunk) {}
  constexpr size_t order() const { return groups; }
  constexpr size_t extras() const { return groups + windows; }
  constexpr size_t table() const { return groups + windows + room; }
  constexpr size_t all() const { return table() + 1; }
};
static_assert(PairPart(kPairPart).room <= sizeof(PairTable::groups), "each extra is told");
static_assert(PairPart(kPairPart).groups <= 256, "a group's number is a byte");

constexpr size_t kPairPartGroups = PairPart(kPairPart).all();

// What a lane takes of a panel that is k deep. Does not wrap for the depths that there are; k may
// be up to SIZE_MAX - 3.
constexpr size_t paired_depth(size_t k) {
  const size_t rest = k % kPairPart, tail = rest ? PairPart(rest).all() * kPairGroup : 0,
               whole = k / kPairPart, most = (SIZE_MAX - tail) / (kPairPartGroups * kPairGroup);
  return whole > most ? SIZE_MAX : whole * kPairPartGroups * kPairGroup + tail;
}

}  // namespace octet
