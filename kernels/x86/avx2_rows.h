// SPDX-License-Identifier: Apache-2.0
// Brings the rows of a tile to avx2_u8s8_rows_6x64x4.cc: as bytes of which VPMADDUBSW saturates no
// product, or as words.
//
// A pair is two neighbours along the depth that VPMADDUBSW adds; a group is two pairs. A pair is
// crowded if its bytes sum to more than some weights allow. With 256 none saturates, whatever the
// weights: 256 * 127 < 2^15. Weights whose pairs of one sign stay below 128 allow any bytes.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/core/micro_kernel.h"
#include "kernels/x86/shared/quads.h"

namespace octet {
namespace {

constexpr int kWideMr = 6;

// Room for a part of a tile's rows, all taps side by side. As words: of each four bytes the even
// ones, and `odd` bytes further the odd ones. As bytes: `odd` bytes further are the top bits of
// crowded groups, one group after the other. Of a tile, and of all rows that are read at a time:
constexpr size_t kPart = 160, kRowBytes = kPart + 32, kOdd = kWideMr * kRowBytes,
                 kAllOdd = 2 * kOdd;

constexpr size_t kGroup = 64;  // bytes of a group of weights, of a panel's 16 columns

OCTET_INLINE inline void widen(__m256i bytes, uint8_t* to, size_t odd) {
  _mm256_storeu_si256((__m256i*)to, _mm256_and_si256(bytes, _mm256_set1_epi16(0xff)));
  _mm256_storeu_si256((__m256i*)(to + odd), _mm256_srli_epi16(bytes, 8));
}

// ---- rows as bytes ------------------------------------------------------------------------------

// The groups of a part with a crowded pair in some row.
struct Crowd {
  static constexpr int kLargest = 256;
  static constexpr size_t kMost = 2 * kPart / 4 / 4;
  size_t count = 0;
  uint8_t groups[kMost + 1];

  // Adds those of the eight groups from `first` on whose four bits are not all 0, until there is
  // one more than `most`.
  OCTET_INLINE inline void add(size_t first, uint32_t crowded, size_t most) {
    for (; crowded && count <= most; ++count) {
      const uint32_t group = (uint32_t)__builtin_ctz(crowded) / 4;
      groups[count] = (uint8_t)(first + group);
      crowded &= ~(15u << 4 * group);
    }
  }
};

// The mask of the groups of so many bytes.
inline __m256i groups_of(size_t bytes) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(bytes / 4)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

// Loads up to 31 bytes; zeros follow.
inline __m256i load_some(const uint8_t* from, size_t count) {
  alignas(32) uint8_t some[32] = {};
  __builtin_memcpy(some, from, count);
  return _mm256_load_si256((const __m256i*)some);
}

// Copies `bytes` bytes of row_at(0), ... to rows that begin row_bytes apart, in whole vectors, and
// adds their crowded groups, of which the first is first_group, until there are more than
// most_crowded. step: rows at a time, of which `rows` is a multiple; limits: what each pair may sum
// to, or null for Crowd::kLargest.
template <int step, typename RowAt>
OCTET_INLINE inline void copy_rows(const RowAt& row_at, size_t rows, size_t bytes, uint32_t flip,
                                   uint8_t* to, size_t row_bytes, size_t first_group,
                                   const int16_t* limits, size_t most_crowded, Crowd* crowd) {
  const __m256i flips = _mm256_set1_epi32((int)flip), ones = _mm256_set1_epi8(1);
  for (size_t k = 0; k < bytes; k += 32, to += 32, first_group += 8) {
    const size_t left = bytes - k;
    const __m256i groups = groups_of(left);
    __m256i largest = _mm256_setzero_si256();
    const auto copy_all = [&](const auto& load) OCTET_INLINE {
      uint8_t* row = to;
      OCTET_NO_UNROLL
      for (size_t i = 0; i < rows; i += step)
        unroll<step>([&](auto j) OCTET_INLINE {
          const __m256i x = _mm256_xor_si256(load(row_at(i + j) + k), flips);
          _mm256_storeu_si256((__m256i*)row, x);
          largest = _mm256_max_epi16(largest, _mm256_maddubs_epi16(x, ones));
          row += row_bytes;
        });
    };
    if (left >= 32)
      copy_all([](const uint8_t* from)
                   OCTET_INLINE { return _mm256_loadu_si256((const __m256i*)from); });
    else if (left % 4 == 0)
      copy_all([&](const uint8_t* from)
                   OCTET_INLINE { return _mm256_maskload_epi32((const int*)from, groups); });
    else
      copy_all([&](const uint8_t* from) OCTET_INLINE { return load_some(from, left); });
    const __m256i most = limits ? _mm256_loadu_si256((const __m256i*)(limits + k / 2))
                                : _mm256_set1_epi16(Crowd::kLargest);
    const uint32_t crowded = (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi16(largest, most));
    if (!crowded) continue;
    crowd->add(first_group, crowded, most_crowded);
    if (crowd->count > most_crowded) return;
  }
}

// Splits the crowded groups of all rows into their lower seven bits, in place, and the top bits.
OCTET_INLINE inline void split(const Crowd& crowd, size_t rows, uint8_t* bytes, size_t row_bytes,
                               size_t odd) {
  for (size_t e = 0; e < crowd.count; ++e) {
    uint8_t* to = bytes + 4 * crowd.groups[e];
    uint8_t* top = bytes + odd + 4 * e;
    OCTET_NO_UNROLL
    for (size_t i = 0; i < rows; ++i, to += row_bytes, top += row_bytes) {
      const uint32_t quad = (uint32_t)load_quad(to), high = quad & 0x80808080, low = quad ^ high;
      __builtin_memcpy(to, &low, 4);
      __builtin_memcpy(top, &high, 4);
    }
  }
}

// Widens `bytes` bytes of row_at(0), ..., in whole vectors.
template <typename RowAt>
OCTET_INLINE inline void widen_rows(const RowAt& row_at, size_t rows, size_t bytes, uint32_t flip,
                                    uint8_t* to, size_t row_bytes, size_t odd) {
  const __m256i flips = _mm256_set1_epi32((int)flip), rest = groups_of(bytes % 32);
  for (size_t i = 0; i < rows; ++i, to += row_bytes) {
    const uint8_t* const from = row_at(i);
    size_t k = 0;
    OCTET_NO_UNROLL
    for (; k + 32 <= bytes; k += 32)
      widen(_mm256_xor_si256(_mm256_loadu_si256((const __m256i*)(from + k)), flips), to + k, odd);
    if (k == bytes) continue;
    const __m256i some = bytes % 4 ? load_some(from + k, bytes - k)
                                   : _mm256_maskload_epi32((const int*)(from + k), rest);
    widen(_mm256_xor_si256(some, flips), to + k, odd);
  }
}

// What pairs may sum to with a micro-panel's weights.
struct Limits {
  alignas(32) int16_t most[kPart + 16];  // of each pair along the depth
  int16_t least = Crowd::kLargest;       // of all
};

// The limits of a group of eight columns. Weights a >= b of one sign that sum to more than 128 take
// 255 times a and, within 2^15, some times b; others take any pair.
OCTET_INLINE inline __m256i limits_of(__m256i weights) {
  const __m256i sums = _mm256_maddubs_epi16(_mm256_set1_epi8(-1), weights),
                any = _mm256_set1_epi16(INT16_MAX), magnitudes = _mm256_abs_epi8(weights),
                even = _mm256_and_si256(magnitudes, _mm256_set1_epi16(0xff)),
                odd = _mm256_srli_epi16(magnitudes, 8),
                left = _mm256_sub_epi16(
                    any, _mm256_mullo_epi16(_mm256_max_epi16(even, odd), _mm256_set1_epi16(255))),
                less = _mm256_max_epi16(_mm256_min_epi16(even, odd), _mm256_set1_epi16(1));
  const auto times = [](__m256i a, __m256i b) OCTET_INLINE {
    return _mm256_cvttps_epi32(_mm256_div_ps(_mm256_cvtepi32_ps(a), _mm256_cvtepi32_ps(b)));
  };
  const __m256i low = _mm256_set1_epi32(0xffff),
                first = times(_mm256_and_si256(left, low), _mm256_and_si256(less, low)),
                second = times(_mm256_srli_epi32(left, 16), _mm256_srli_epi32(less, 16)),
                more = _mm256_or_si256(first, _mm256_slli_epi32(second, 16)),
                crowded = _mm256_or_si256(_mm256_cmpeq_epi16(sums, any),
                                          _mm256_cmpeq_epi16(sums, _mm256_set1_epi16(INT16_MIN)));
  return _mm256_blendv_epi8(any, _mm256_add_epi16(more, _mm256_set1_epi16(255)), crowded);
}

__attribute__((noinline)) void find_limits(const Tile& t, size_t groups, Limits* limits) {
  __m128i least = _mm_set1_epi16(INT16_MAX);
  for (size_t g = 0; g < groups; ++g) {
    __m256i most = _mm256_set1_epi16(INT16_MAX);
    for (size_t column = 0; column < t.cols; column += 8)
      most = _mm256_min_epi16(
          most,
          limits_of(_mm256_loadu_si256((const __m256i*)(t.rhs + column / 16 * t.rhs_panel_stride +
                                                        g * kGroup + column % 16 * 4))));
    __m128i some = _mm_min_epi16(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
    some = _mm_min_epi16(some, _mm_shuffle_epi32(some, 0x4e));
    some = _mm_min_epi16(some, _mm_shuffle_epi32(some, 0xb1));
    least = _mm_min_epi16(least, some);
    const int32_t pairs = _mm_cvtsi128_si32(some);
    __builtin_memcpy(limits->most + 2 * g, &pairs, sizeof pairs);
  }
  const int32_t both = _mm_cvtsi128_si32(least);
  const int16_t a = (int16_t)both, b = (int16_t)(both >> 16);
  limits->least = a < b ? a : b;
}

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

// Copies bytes [at, at + part) of all taps of each row; false where too many groups are crowded.
__attribute__((noinline)) bool copy_part(const Tile& t, size_t at, size_t part, uint8_t* to,
                                         Crowd* crowd) {
  const size_t most = part / 16;
  crowd->count = 0;
  for_each_tap(t, at, part, [&](const auto& row_at, size_t bytes, size_t done) {
    copy_rows<1>(row_at, t.rows, bytes, t.lhs_flip, to + done, kRowBytes, done / 4, nullptr, most,
                 crowd);
  });
  if (crowd->count > most) return false;
  split(*crowd, t.rows, to, kRowBytes, kOdd);
  return true;
}

__attribute__((noinline)) void widen_part(const Tile& t, size_t at, size_t part, uint8_t* to) {
  for_each_tap(t, at, part, [&](const auto& row_at, size_t bytes, size_t done) {
    widen_rows(row_at, t.rows, bytes, t.lhs_flip, to + done, kRowBytes, kOdd);
  });
}

// Some rows of a micro-panel: row after row, where they lie or copied, or, where rows overlap, all
// rows of a tap as one.
struct SomeRows {
  const uint8_t* data;
  size_t stride, taps, groups;  // bytes between rows; groups of a tap
  const ptrdiff_t* tap_steps;   // bytes between taps; null: tap bytes
  size_t tap;
  const Crowd* crowd;  // null: words
};

// Six rows or twelve at a time: where they lie, if no pair is crowded, or copied as bytes or words.
class RowReader {
 public:
  explicit RowReader(const Tile& t)
      : t_(t),
        stride_(t.lhs_stride),
        depth_(t.depth),
        deep_(t.taps * t.depth > kPart),
        overlap_(t.lhs_stride < t.depth && t.lhs_stride % 4 == 0),
        spans_(overlap_ || (t.lhs_stride == t.depth && t.depth % 32)) {
    const size_t groups = t.taps * t.depth / 4;
    const __m256i all = _mm256_set1_epi16(Crowd::kLargest);
    for (size_t i = 0; i < 2 * groups + 16; i += 16)
      _mm256_store_si256((__m256i*)(limits_.most + i), all);
  }
  // Deeper rows than a part are read six at a time.
  size_t most() const { return deep_ ? kWideMr : 2 * kWideMr; }

  // After rows that it had to widen it asks less often.
  OCTET_INLINE inline SomeRows read(const uint8_t* from, size_t rows) {
    crowd_.count = 0;
    if (unasked_) {
      --unasked_;
      return widened(from, rows);
    }
    if (!t_.lhs_flip && (fit_where_they_lie(from, rows) || find_more(from, rows)))
      return {from, stride_, t_.taps, depth_ / 4, t_.tap_steps, 0, &crowd_};
    if (!overlap_ && copied(from, rows))
      return {data_, row_bytes(), 1, t_.taps * depth_ / 4, nullptr, 0, &crowd_};
    constexpr size_t kMostUnasked = 15;
    unasked_ = pause_ = smaller(2 * pause_ + 1, kMostUnasked);
    return widened(from, rows);
  }

 private:
  // Looks at the weights, once, where that pays, and whether the rows fit these.
  __attribute__((noinline)) bool find_more(const uint8_t* from, size_t rows) {
    constexpr size_t kManyRows = 192;
    if (found_ || t_.rows < kManyRows) return false;
    found_ = true;
    find_limits(t_, t_.taps * depth_ / 4, &limits_);
    return fit_where_they_lie(from, rows);
  }

  size_t row_bytes() const { return deep_ ? 2 * kRowBytes : kRowBytes; }
  template <typename F>
  OCTET_INLINE inline void for_each_tap(const uint8_t* tap, const F& f) const {
    for (size_t i = 0;; tap += t_.tap_steps[i++]) {
      f(tap);
      if (i + 1 == t_.taps) return;
    }
  }

  OCTET_INLINE inline bool fit_where_they_lie(const uint8_t* from, size_t rows) const {
    const __m256i ones = _mm256_set1_epi8(1), least = _mm256_set1_epi16(limits_.least);
    const size_t bytes = spans_ ? (rows - 1) * stride_ + depth_ : depth_, stride = stride_;
    const __m256i rest = groups_of(bytes % 32);
    const int16_t* most = limits_.most;
    bool fit = true;
    for_each_tap(from, [&](const uint8_t* tap) OCTET_INLINE {
      __m256i crowded = _mm256_setzero_si256();
      const auto check = [&](const auto& load, size_t k) OCTET_INLINE {
        __m256i largest = _mm256_setzero_si256();
        const auto add = [&](const uint8_t* at) OCTET_INLINE {
          largest = _mm256_max_epi16(largest, _mm256_maddubs_epi16(load(at), ones));
        };
        const uint8_t* at = tap + k;
        if (spans_) {
          add(at);
          crowded = _mm256_or_si256(crowded, _mm256_cmpgt_epi16(largest, least));
          return;
        }
        OCTET_NO_UNROLL
        for (size_t row = 0; row < rows; row += kWideMr)
          unroll<kWideMr>([&](auto) OCTET_INLINE {
            add(at);
            at += stride;
          });
        crowded = _mm256_or_si256(
            crowded,
            _mm256_cmpgt_epi16(largest, _mm256_loadu_si256((const __m256i*)(most + k / 2))));
      };
      size_t k = 0;
      for (; fit && k + 32 <= bytes; k += 32) {
        check([](const uint8_t* at) OCTET_INLINE { return _mm256_loadu_si256((const __m256i*)at); },
              k);
        if (!spans_) fit = _mm256_testz_si256(crowded, crowded);
      }
      if (fit && k < bytes)
        check([&](const uint8_t* at)
                  OCTET_INLINE { return _mm256_maskload_epi32((const int*)at, rest); },
              k);
      most += depth_ / 2;
      fit = fit && _mm256_testz_si256(crowded, crowded);
    });
    return fit;
  }

  __attribute__((noinline)) bool copied(const uint8_t* from, size_t rows) {
    const size_t most = t_.taps * depth_ / 16;
    size_t done = 0;
    for_each_tap(from, [&](const uint8_t* tap) {
      copy_rows<kWideMr>([&](size_t i) OCTET_INLINE { return tap + i * stride_; }, rows, depth_,
                         t_.lhs_flip, data_ + done, row_bytes(), done / 4, limits_.most + done / 2,
                         most, &crowd_);
      done += depth_;
    });
    if (crowd_.count > most) return false;
    split(crowd_, rows, data_, row_bytes(), kAllOdd);
    return true;
  }

  // Of rows that overlap, all of a tap at once.
  __attribute__((noinline)) SomeRows widened(const uint8_t* from, size_t rows) {
    const size_t span = overlap_ ? (rows - 1) * stride_ + depth_ : depth_;
    uint8_t* to = data_;
    for_each_tap(from, [&](const uint8_t* tap) {
      widen_rows([&](size_t i) OCTET_INLINE { return tap + i * stride_; }, overlap_ ? 1 : rows,
                 span, t_.lhs_flip, to, row_bytes(), kAllOdd);
      to += span;
    });
    if (overlap_) return {data_, stride_, t_.taps, depth_ / 4, nullptr, span, nullptr};
    return {data_, row_bytes(), 1, t_.taps * depth_ / 4, nullptr, 0, nullptr};
  }

  const Tile& t_;
  const size_t stride_, depth_;
  const bool deep_, overlap_, spans_;
  bool found_ = false;  // the limits
  // Calls of read that do not ask: still, and after the last rows that were widened
  size_t unasked_ = 0, pause_ = 0;
  Crowd crowd_;
  Limits limits_;
  alignas(64) uint8_t data_[2 * kAllOdd];
};

}  // namespace
}  // namespace octet
