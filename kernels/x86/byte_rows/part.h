// SPDX-License-Identifier: Apache-2.0
// A part of the depth of a tile of up to six rows, for avx2_u8s8_rows_6x64x4.cc, where a tile is
// too deep, too small or too unlike others for RowReader.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/byte_rows/rows.h"

namespace octet {
namespace {

constexpr int kWideNr = 64;

// Calls f(row_at, bytes, done) for each tap that has bytes of [at, at + part) of all taps: bytes of
// row_at(i) are `done` bytes after the part's first one.
template <typename F>
OCTET_INLINE inline void for_each_tap(const Tile& t, size_t at, size_t part, const F& f) {
  const size_t steps = round_up_pow2(t.depth, 4);
  const uint8_t* first = (const uint8_t*)t.lhs;  // of the tap's rows
  size_t tap = 0;
  const auto next_tap = [&] {
    if (++tap < t.taps && !t.lhs_rows) first += t.tap_steps[tap - 1];
  };
  for (; at >= steps; at -= steps) next_tap();
  for (size_t done = 0, count; done < part; done += count, at = 0, next_tap()) {
    count = smaller(steps - at, part - done);
    f(
        [&](size_t i) OCTET_INLINE {
          return (t.lhs_rows ? t.lhs_rows[tap * t.rows + i] : first + i * t.lhs_stride) + at;
        },
        smaller(t.depth - at, count), done);
  }
}

// Copies or widens bytes [at, at + part) of all taps of each row. Returns whether copies have
// crowded pairs.
template <bool words>
__attribute__((noinline)) bool bring_part(const Tile& t, size_t at, size_t part, uint8_t* to) {
  __m256i largest = _mm256_setzero_si256();
  for_each_tap(t, at, part, [&](const auto& row_at, size_t bytes, size_t done) {
    bring_rows<words>(row_at, t.rows, bytes, t.lhs_flip, to + done, &largest);
  });
  largest = _mm256_cmpgt_epi16(largest, _mm256_set1_epi16(Limits::kLargest));
  return !_mm256_testz_si256(largest, largest);
}

// A part of a tile's rows, of all its taps: where they lie, copied, or as words.
struct Part {
  static constexpr size_t kMostCrowded = 24;
  const uint8_t* data;
  size_t stride, bytes;
  bool words;
  bool asks = true;  // else rows become words without a question
  size_t crowded;    // groups of bytes
  CrowdedGroup groups[kMostCrowded];

  // Reads what follows byte `at` of all taps' `end`; room: for kPart bytes of each row, as words.
  // Rows of one tap are asked about where they lie, all that follows if nothing has to be flipped.
  __attribute__((noinline)) void read(const Tile& t, size_t at, size_t end, uint8_t* room) {
    const size_t some = smaller(end - at, kPart);
    const bool lie = t.taps == 1 && !t.lhs_rows && t.depth % 4 == 0;
    bytes = some, words = !asks;
    if (lie && asks) {
      data = (const uint8_t*)t.lhs + at, stride = t.lhs_stride;
      if (!t.lhs_flip) bytes = end - at;
      words = !ask(t, at, t.lhs_flip);
      if (words && bytes > some) bytes = some, words = !ask(t, at, 0);
      if (!words && !t.lhs_flip) return;
    }
    data = room, stride = kRowBytes;
    if (!lie && asks) crowded = 0, words = bring_part<false>(t, at, bytes, room) && !ask(t, at, 0);
    if (lie && !words) bring_part<false>(t, at, bytes, room);
    if (words) bring_part<true>(t, at, bytes, room);
  }

 private:
  // Whether few groups are crowded.
  bool ask(const Tile& t, size_t at, uint32_t flip) {
    crowded = 0;
    return find_crowded(data, stride, t.rows, bytes, flip, nullptr, at / 4,
                        smaller(t.rows * bytes / 64, kMostCrowded), groups, &crowded);
  }
};

// Adds what crowded groups lose to the row sums in `from`; rows that still are the tile's init are
// copied to `sums` before.
__attribute__((noinline)) void add_losses(const Tile& t, const Part& part, const int32_t** from,
                                          int32_t (*sums)[kWideNr]) {
  for (size_t e = 0; e < part.crowded; ++e) {
    const size_t row = part.groups[e].row;
    if (from[row] != sums[row]) {
      OCTET_NO_UNROLL
      for (size_t column = 0; column < round_up_pow2(t.cols, 16); column += 8)
        _mm256_store_si256((__m256i*)(sums[row] + column),
                           _mm256_loadu_si256((const __m256i*)(from[row] + column)));
      from[row] = sums[row];
    }
    add_loss(t, part.groups[e], sums[row]);
  }
}

}  // namespace
}  // namespace octet
