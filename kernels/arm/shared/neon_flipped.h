// SPDX-License-Identifier: Apache-2.0
// Multiplies up to three rows, and all rows of in-order cores, on AArch64 where the call has many
// columns and rows are u8 or of several taps: they are copied to the stack once, flipped to s8 and
// joined on the way, for all columns of the call. In the depth loop of neon_int8.h each vector
// would be flipped, and each tap begun, again for every four columns.
//
// Rows deeper than the copy are multiplied part by part; the sums so far are the next part's init.
#pragma once

#include "kernels/arm/shared/flip_rows.h"
#include "kernels/arm/shared/neon_int8.h"

namespace octet {
namespace {

struct Flipped {
  // Of all rows. From so many columns and so deep a row on, copies take fewer instructions than
  // they save.
  static constexpr size_t kBytes = 4096, kLeastColumns = 48, kLeastDepth = 128;

  static bool takes(const Tile& t) {
    return (t.lhs_flip || t.taps > 1) && t.cols >= kLeastColumns && t.depth * t.taps >= kLeastDepth;
  }
};

template <bool int8_min>
__attribute__((noinline)) void multiply_flipped(const Tile& t, bool in_order) {
  constexpr size_t kGroup = 16 * kWidth;
  alignas(16) uint8_t copies[Flipped::kBytes];
  alignas(16) int32_t sums[kMr * kNr];
  uint8x16_t sign = vdupq_n_u8((uint8_t)t.lhs_flip);
  pin(sign);
  // The taps of a row side by side, each a whole number of groups
  const size_t tap_steps = round_up_pow2(t.depth, 16), all = t.taps * tap_steps,
               most = Flipped::kBytes / t.rows / 16 * 16;
  Tile part = t;
  part.lhs = copies;
  part.lhs_stride = most;
  part.lhs_rows = nullptr;
  part.lhs_flip = 0;
  part.taps = 1;
  part.dst = sums;
  part.dst_stride = sizeof(int32_t) * kNr;
  part.scale = nullptr;
  const uint8_t* base = (const uint8_t*)t.lhs;
  size_t tap = 0, in_tap = 0;  // where the next part begins
  for (size_t from = 0, steps; from < all; from += steps) {
    steps = smaller(most, all - from);
    for (size_t done = 0, count; done < steps; done += count) {
      count = smaller(tap_steps - in_tap, steps - done);
      const size_t bytes = smaller(count, t.depth - in_tap);
      for (size_t i = 0; i < t.rows; ++i) {
        const uint8_t* row = t.lhs_rows ? t.lhs_rows[tap * t.rows + i] : base + i * t.lhs_stride;
        copy_flipped(row + in_tap, bytes, sign, copies + i * most + done);
      }
      in_tap += count;
      if (in_tap < tap_steps) continue;
      in_tap = 0;
      if (t.tap_steps && tap + 1 < t.taps) base += t.tap_steps[tap];
      ++tap;
    }
    part.depth = steps;
    if (from + steps == all) {
      // Half a group, where that is the end of the last tap
      part.depth -= (tap_steps - t.depth) / 8 * 8;
      part.dst = t.dst;
      part.dst_stride = t.dst_stride;
      part.scale = t.scale;
    }
    kByRows<false, int8_min>[t.rows - 1](part, in_order);
    part.rhs += steps / 16 * kGroup;
    part.init = sums;
    part.init_stride = kNr;
    part.row_factors = part.column_factors = nullptr;
  }
}

}  // namespace
}  // namespace octet
