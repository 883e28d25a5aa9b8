// SPDX-License-Identifier: Apache-2.0
// Rows in sixteens, for four rows on AArch64: 16 bytes of each row, then the next 16, so that one
// load takes a step of all rows. The rows of a call are copied to the stack, once for all of its
// columns. Rows of u8 become s8 on the way, and the taps of a convolution one row.
//
//     rows 0 1 2 3    bytes 0 to 15 of 0, of 1, of 2, of 3, bytes 16 to 31 of 0, ...
#pragma once

#include "kernels/arm/shared/copy_bytes.h"
#include "kernels/arm/shared/intrinsics.h"
#include "kernels/core/compiler.h"
#include "kernels/core/micro_kernel.h"

namespace octet {
namespace {

struct Sixteens {
  static constexpr size_t kBytes = 4096;  // of a copy

  // Bytes of all rows.
  static size_t bytes(const Tile& t) { return 64 * t.taps * ((t.depth + 15) / 16); }
  // Whether copies take fewer instructions than they save: each tap begins loops for each panel,
  // and so does little depth. Deep rows in place load as much beside their products.
  static bool pay(const Tile& t) {
    return t.lhs_flip || t.taps > 1 || (t.cols >= 40 && t.depth <= 256);
  }
};

#define OCTET_FLIP(r) "eor v" #r ".16b, v" #r ".16b, %[sign].16b\n"
#define OCTET_FLIP_FOUR(a, b, c, d) OCTET_FLIP(a) OCTET_FLIP(b) OCTET_FLIP(c) OCTET_FLIP(d)
#define OCTET_COPY(text)                                                                          \
  __asm__ volatile(                                                                               \
      text                                                                                        \
      : [r0] "+r"(row[0]), [r1] "+r"(row[1]), [r2] "+r"(row[2]), [r3] "+r"(row[3]), [to] "+r"(to) \
      : [sign] "w"(sign)                                                                          \
      : "memory", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23")
#define OCTET_COPY_32(low, high)                                           \
  OCTET_COPY(                                                              \
      "ldp q16, q20, [%[r0]], #32\n ldp q17, q21, [%[r1]], #32\n"          \
      "ldp q18, q22, [%[r2]], #32\n ldp q19, q23, [%[r3]], #32\n" low high \
      "st1 {v16.16b-v19.16b}, [%[to]], #64\n st1 {v20.16b-v23.16b}, [%[to]], #64\n")
#define OCTET_COPY_16(low)                                  \
  OCTET_COPY(                                               \
      "ldr q16, [%[r0]], #16\n ldr q17, [%[r1]], #16\n"     \
      "ldr q18, [%[r2]], #16\n ldr q19, [%[r3]], #16\n" low \
      "st1 {v16.16b-v19.16b}, [%[to]], #64\n")

// Copies the last `rest` bytes of each row, fewer than 16. deep: whether 16 bytes end there.
__attribute__((noinline, unused)) void copy_rests(const uint8_t* const (&row)[4], size_t rest,
                                                  bool deep, uint8x16_t sign, uint8_t* to) {
  static constexpr uint8_t kCount[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const uint8x16_t index = vaddq_u8(vld1q_u8(kCount), vdupq_n_u8((uint8_t)(16 - rest)));
  OCTET_NO_UNROLL
  for (size_t i = 0; i < 4; ++i, to += 16) {
    uint8x16_t last;
    if (deep) {
      last = vqtbl1q_u8(vld1q_u8(row[i] + rest - 16), index);
    } else {
      const uint64_t low = rest < 8 ? load_tail(row[i], rest) : load8(row[i]),
                     high = rest > 8 ? load_tail(row[i] + 8, rest - 8) : 0;
      last = vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high)));
    }
    vst1q_u8(to, veorq_u8(last, sign));
  }
}

// Copies four rows of all taps. What follows a row's end does not matter, because weights are zero
// there.
template <bool flip>
OCTET_INLINE inline void copy_sixteens_of(const Tile& t, uint8_t* to) {
  uint8x16_t sign = vdupq_n_u8(0x80);
  pin(sign);
  const size_t depth = t.depth, rest = depth % 16;
  const uint8_t* base = (const uint8_t*)t.lhs;
  for (size_t tap = 0;;) {
    const uint8_t* row[4];
    unroll<4>([&](auto i) OCTET_INLINE {
      row[i] = t.lhs_rows ? t.lhs_rows[4 * tap + i] : base + i * t.lhs_stride;
    });
    OCTET_NO_UNROLL
    for (size_t twice = depth / 32; twice; --twice) {
      if constexpr (flip)
        OCTET_COPY_32(OCTET_FLIP_FOUR(16, 17, 18, 19), OCTET_FLIP_FOUR(20, 21, 22, 23));
      else
        OCTET_COPY_32("", "");
    }
    if (depth & 16) {
      if constexpr (flip)
        OCTET_COPY_16(OCTET_FLIP_FOUR(16, 17, 18, 19));
      else
        OCTET_COPY_16("");
    }
    if (rest) {
      copy_rests(row, rest, depth > 16, vdupq_n_u8(flip ? 0x80 : 0), to);
      to += 64;
    }
    if (++tap == t.taps) return;
    if (t.tap_steps) base += t.tap_steps[tap - 1];
  }
}

__attribute__((noinline, unused)) void copy_sixteens(const Tile& t, uint8_t* to) {
  t.lhs_flip ? copy_sixteens_of<true>(t, to) : copy_sixteens_of<false>(t, to);
}

// Multiplies parts of the rows that fit copies: some taps, or a part of one. The sums so far are
// the next part's init.
__attribute__((noinline, unused)) void multiply_in_parts(const Tile& t,
                                                         void (*multiply)(const Tile&, bool)) {
  constexpr size_t kColumns = 64, kMost = Sixteens::kBytes / 64;
  alignas(16) int32_t sums[4 * kColumns];
  const size_t steps = (t.depth + 15) / 16, together = steps < kMost ? kMost / steps : 1;
  Tile part = t;
  part.dst = sums;
  part.dst_stride = sizeof(int32_t) * kColumns;
  part.scale = nullptr;
  for (size_t tap = 0; tap < t.taps; tap += part.taps) {
    part.taps = smaller(together, t.taps - tap);
    for (size_t step = 0, count; step < steps; step += count) {
      count = smaller(part.taps == 1 ? kMost : steps, steps - step);
      part.depth = smaller(16 * count, t.depth - 16 * step);
      const uint8_t* rows[4];
      if (t.lhs_rows) {
        part.lhs_rows = t.lhs_rows + 4 * tap;
        if (step) {
          unroll<4>([&](auto i) OCTET_INLINE { rows[i] = part.lhs_rows[i] + 16 * step; });
          part.lhs_rows = rows;
        }
      }
      const uint8_t* const first = (const uint8_t*)part.lhs;
      part.lhs = first + 16 * step;
      if (tap + part.taps == t.taps && step + count == steps) {
        part.dst = t.dst;
        part.dst_stride = t.dst_stride;
        part.scale = t.scale;
      }
      multiply(part, false);
      part.lhs = first;
      part.rhs += 64 * part.taps * count;
      part.init = sums;
      part.init_stride = kColumns;
      part.row_factors = part.column_factors = nullptr;
    }
    if (!t.tap_steps) continue;
    for (size_t i = tap; i < tap + part.taps && i + 1 < t.taps; ++i)
      part.lhs = (const uint8_t*)part.lhs + t.tap_steps[i];
    part.tap_steps = t.tap_steps + tap + part.taps;
  }
}

#undef OCTET_COPY_16
#undef OCTET_COPY_32
#undef OCTET_COPY
#undef OCTET_FLIP_FOUR
#undef OCTET_FLIP

}  // namespace
}  // namespace octet
