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
#include "kernels/x86/byte_rows/limits.h"
#include "kernels/x86/shared/quads.h"

namespace octet {
namespace {

constexpr int kWideMr = 6;

// Room for a part of a row, all taps side by side. As words: of each four bytes the even ones, and,
// behind those of all rows of a tile, or of all that are read at a time, the odd ones.
constexpr size_t kRowBytes = kPart + 32, kOdd = kWideMr * kRowBytes, kAllOdd = 2 * kOdd;

OCTET_INLINE inline void widen(__m256i bytes, uint8_t* to, size_t odd) {
  _mm256_storeu_si256((__m256i*)to, _mm256_and_si256(bytes, _mm256_set1_epi16(0xff)));
  _mm256_storeu_si256((__m256i*)(to + odd), _mm256_srli_epi16(bytes, 8));
}

// ---- rows as bytes ------------------------------------------------------------------------------

// Loads up to 31 bytes; zeros follow.
inline __m256i load_some(const uint8_t* from, size_t count) {
  alignas(32) uint8_t some[32] = {};
  __builtin_memcpy(some, from, count);
  return _mm256_load_si256((const __m256i*)some);
}

// Passes all vectors of `bytes` bytes of row_at(0), ..., xor-ed with flip, to f(vector, place).
// Places of a row begin row_bytes apart, from `to` on. step: rows at a time, of which `rows` is a
// multiple.
template <int step, typename RowAt, typename F>
OCTET_INLINE inline void for_each_vector(const RowAt& row_at, size_t rows, size_t bytes,
                                         uint32_t flip, uint8_t* to, size_t row_bytes, const F& f) {
  const __m256i flips = _mm256_set1_epi32((int)flip);
  for (size_t k = 0; k < bytes; k += 32, to += 32) {
    const size_t left = bytes - k;
    const __m256i groups = quads_of(left);
    const auto all_rows = [&](const auto& load) OCTET_INLINE {
      uint8_t* row = to;
      OCTET_NO_UNROLL
      for (size_t i = 0; i < rows; i += step)
        unroll<step>([&](auto j) OCTET_INLINE {
          f(_mm256_xor_si256(load(row_at(i + j) + k), flips), row);
          row += row_bytes;
        });
    };
    if (left >= 32)
      all_rows([](const uint8_t* from)
                   OCTET_INLINE { return _mm256_loadu_si256((const __m256i*)from); });
    else if (left % 4 == 0)
      all_rows([&](const uint8_t* from) OCTET_INLINE { return load_quads(from, groups); });
    else
      all_rows([&](const uint8_t* from) OCTET_INLINE { return load_some(from, left); });
  }
}

// A group of a row with a crowded pair, and its number along all taps.
struct CrowdedGroup {
  int32_t quad;
  uint32_t row, group;
};

// Appends the crowded groups of rows that begin `stride` apart to `groups`, the first group of
// these rows as number `first`; false once there are more than `most`. flip: xor-ed to the bytes;
// limits: of the pairs, whole vectors, or null for those that no weight exceeds.
__attribute__((noinline)) bool find_crowded(const uint8_t* rows_at, size_t stride, size_t rows,
                                            size_t bytes, uint32_t flip, const int16_t* limits,
                                            size_t first, size_t most, CrowdedGroup* groups,
                                            size_t* count) {
  OCTET_NO_UNROLL
  for (size_t k = 0; k < bytes; k += 32) {
    const __m256i limit = limits ? _mm256_loadu_si256((const __m256i*)(limits + k / 2))
                                 : _mm256_set1_epi16(Limits::kLargest),
                  mask = quads_of(bytes - k),
                  flips = _mm256_and_si256(mask, _mm256_set1_epi32((int)flip));
    const uint8_t* const at = rows_at + k;
    const auto pairs_of_row = [&](size_t row) OCTET_INLINE {
      const __m256i x = load_quads(at + row * stride, mask);
      return _mm256_maddubs_epi16(_mm256_xor_si256(x, flips), _mm256_set1_epi8(1));
    };
    __m256i largest = _mm256_setzero_si256();
    OCTET_NO_UNROLL
    for (size_t row = 0; row < rows; ++row) largest = _mm256_max_epi16(largest, pairs_of_row(row));
    largest = _mm256_cmpgt_epi16(largest, limit);
    if (_mm256_testz_si256(largest, largest)) continue;
    OCTET_NO_UNROLL
    for (size_t row = 0; row < rows; ++row) {
      const uint32_t pairs =
          (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi16(pairs_of_row(row), limit));
      uint32_t crowded = (pairs | pairs >> 2) & 0x11111111;  // a bit of each group's four
      if (*count + (size_t)__builtin_popcount(crowded) > most) return false;
      OCTET_NO_UNROLL
      for (; crowded; crowded &= crowded - 1) {
        const uint32_t group = (uint32_t)__builtin_ctz(crowded) / 4;
        groups[(*count)++] = {load_quad(at + row * stride + 4 * group) ^ (int32_t)flip,
                              (uint32_t)row, (uint32_t)(first + k / 4) + group};
      }
    }
  }
  return true;
}

// Adds what VPMADDUBSW loses of a group by each column of a micro-panel to the sums of its row.
__attribute__((noinline)) void add_loss(const Tile& t, const CrowdedGroup& crowded, int32_t* sums) {
  const __m256i bytes = _mm256_set1_epi32(crowded.quad),
                even = _mm256_and_si256(bytes, _mm256_set1_epi16(0xff)),
                odd = _mm256_srli_epi16(bytes, 8);
  const uint8_t* const first = t.rhs + crowded.group * kGroup;
  const size_t columns = t.cols, panel = t.rhs_panel_stride;
  OCTET_NO_UNROLL
  for (size_t column = 0; column < columns; column += 8) {
    const uint8_t* const weights = first + column / 16 * panel + column % 16 * 4;
    const __m256i some =
        _mm256_madd_epi16(_mm256_maddubs_epi16(bytes, _mm256_loadu_si256((const __m256i*)weights)),
                          _mm256_set1_epi16(1));
    __m256i* const sum = (__m256i*)(sums + column);
    *sum = _mm256_add_epi32(_mm256_sub_epi32(*sum, some),
                            _mm256_add_epi32(_mm256_madd_epi16(even, s16_of_quads<0>(weights)),
                                             _mm256_madd_epi16(odd, s16_of_quads<1>(weights))));
  }
}

// Copies or widens `bytes` bytes of row_at(0), ... to rows that begin kRowBytes apart, in whole
// vectors. Copies keep the largest sums of their pairs.
template <bool words, typename RowAt>
OCTET_INLINE inline void bring_rows(const RowAt& row_at, size_t rows, size_t bytes, uint32_t flip,
                                    uint8_t* to, __m256i* largest) {
  for_each_vector<1>(row_at, rows, bytes, flip, to, kRowBytes,
                     [&](__m256i x, uint8_t* place) OCTET_INLINE {
                       if (words) return widen(x, place, kOdd);
                       _mm256_storeu_si256((__m256i*)place, x);
                       const __m256i pairs = _mm256_maddubs_epi16(x, _mm256_set1_epi8(1));
                       *largest = _mm256_max_epi16(*largest, pairs);
                     });
}

// Some rows of a micro-panel: row after row, where they lie or copied, or, where rows overlap, all
// rows of a tap as one.
struct SomeRows {
  const uint8_t* data;
  size_t stride, taps, groups;  // bytes between rows; groups of a tap
  const ptrdiff_t* tap_steps;   // bytes between taps; null: tap bytes
  size_t tap;
  bool words;
  const int32_t* init;  // of each row, init_stride apart
  size_t init_stride;
};

constexpr size_t kMostUnasked = 63;
// What is known of the rows and weights of a micro-panel from one call to the next.
struct Answers {
  const uint8_t* rhs;  // Tile::rhs; null: nothing is known
  size_t rows;         // of all calls so far
  size_t depth;        // of all taps: a tile at the sides of an image may have fewer
  // Calls of RowReader::read that do not ask: still, and after the last rows that were widened
  size_t unasked, pause;
  bool found, decoded;  // the limits, the weights
  Limits limits;

  void begin(const Tile& t) {
    rhs = t.rhs, depth = t.taps * t.depth;
    rows = unasked = pause = 0, found = decoded = false;
    limits.begin();
  }
  bool serve(const Tile& t) const { return rhs == t.rhs && depth == t.taps * t.depth; }
};
static_assert(sizeof(Answers) <= kRoomHead);

// Six rows or twelve at a time: where they lie, or copied if they are flipped, if few pairs are
// crowded, else as words.
class RowReader {
 public:
  // answers: of the rows before, or new
  RowReader(const Tile& t, Answers* answers)
      : t_(t),
        answers_(*answers),
        stride_(t.lhs_stride),
        depth_(t.depth),
        deep_(t.taps * t.depth > kPart),
        overlap_(t.lhs_stride < t.depth && t.lhs_stride % 4 == 0),
        period_(period_of(t)),
        together_(kTogether / (t.taps * t.depth)),
        lying_{nullptr, t.lhs_stride, t.taps, t.depth / 4, t.tap_steps, 0, false, t.init, 0},
        copied_(overlap_ ? SomeRows{data_, stride_, t.taps, depth_ / 4, nullptr, 0, true, t.init, 0}
                         : SomeRows{data_, row_bytes(), 1, t.taps * depth_ / 4, nullptr, 0, true,
                                    t.init, 0}) {
    if (!answers_.serve(t)) answers_.begin(t);
    answers_.rows += t.rows;
  }
  // Deeper rows than a part are read six at a time.
  size_t most() const { return deep_ ? kWideMr : 2 * kWideMr; }

  // Reads *rows of `left` rows, or, of rows that fit where they lie, several times so many. After
  // rows that it had to widen it asks less often. The answer lives until the next question.
  OCTET_INLINE inline const SomeRows& read(const uint8_t* from, size_t left, size_t* rows) {
    if (!answers_.unasked) {
      lying_.data = from;
      if (t_.lhs_flip) copy<false>(from, *rows);
      SomeRows& bytes = t_.lhs_flip ? copied_ : lying_;
      bytes.init = t_.init, bytes.init_stride = 0;
      do {
        if (const size_t some = fitting(bytes, *rows, left)) return *rows = some, bytes;
      } while (!t_.lhs_flip && find_more());
      if (correct(&bytes, *rows)) return bytes;
      answers_.unasked = answers_.pause = smaller(2 * answers_.pause + 1, kMostUnasked);
    } else {
      --answers_.unasked;
    }
    copy<true>(from, *rows);
    return copied_;
  }

 private:
  // Looks at the weights, once, where that pays.
  bool find_more() {
    constexpr size_t kManyRows = 192;
    if (answers_.found || answers_.rows < kManyRows) return false;
    answers_.found = true;
    find_limits(t_, t_.taps * depth_ / 4, &answers_.limits);
    if (period_) answers_.limits.repeat(depth_);
    return true;
  }

  size_t row_bytes() const { return deep_ ? 2 * kRowBytes : kRowBytes; }

  // Calls f(vector, k) for the vectors of `bytes` bytes while it says so.
  template <typename F>
  OCTET_INLINE static inline bool for_each_load(size_t bytes, const F& f) {
    size_t k = 0;
    for (; k + 32 <= bytes; k += 32)
      if (!f([](const uint8_t* at) OCTET_INLINE { return _mm256_loadu_si256((const __m256i*)at); },
             k))
        return false;
    if (k == bytes) return true;
    const __m256i rest = quads_of(bytes - k);
    return f([&](const uint8_t* at) OCTET_INLINE { return load_quads(at, rest); }, k);
  }

  // How many of `left` rows fit, `step` at a time: 0 if the first ones do not. Rows that lie are
  // asked about ahead, so that one call multiplies all that fit.
  OCTET_INLINE inline size_t fitting(const SomeRows& some, size_t step, size_t left) {
    const size_t most = t_.lhs_flip || together_ < step ? step : smaller(left, together_);
    if (period_ && !next_is_crowded_) return fitting_run(some.data, step, most);
    size_t rows = 0;
    while (!next_is_crowded_ && rows + step <= most) {
      next_is_crowded_ = !fit(some, some.data + rows * some.stride, step);
      if (!next_is_crowded_) rows += step;
    }
    if (!rows) next_is_crowded_ = false;
    return rows;
  }

  // Pairs after which the limits of rows that lie side by side recur, in whole vectors; 0: they do
  // not, or not soon.
  static uint16_t period_of(const Tile& t) {
    size_t pairs = t.depth / 2;
    if (t.taps > 1 || t.lhs_stride != t.depth || t.depth % 4 || t.lhs_flip) return 0;
    while (pairs % 16 != 0) pairs *= 2;
    return pairs <= Limits::kPairs ? (uint16_t)pairs : 0;
  }
  // As fitting, of rows that lie side by side.
  __attribute__((noinline)) size_t fitting_run(const uint8_t* from, size_t step, size_t most) {
    const size_t bytes = most * stride_;
    const int16_t* const limits = answers_.limits.most;
    const auto pairs_of = [](__m256i x)
                              OCTET_INLINE { return _mm256_maddubs_epi16(x, _mm256_set1_epi8(1)); };
    const auto pairs_at = [&](size_t at) OCTET_INLINE {
      return pairs_of(_mm256_loadu_si256((const __m256i*)(from + at)));
    };
    const auto exceeds = [](__m256i pairs, const int16_t* limit) OCTET_INLINE {
      const __m256i crowded = _mm256_cmpgt_epi16(pairs, _mm256_load_si256((const __m256i*)limit));
      return !_mm256_testz_si256(crowded, crowded);
    };
    size_t k = 0;
    if (period_ == 16)
      for (; k + 128 <= bytes; k += 128)
        if (exceeds(_mm256_max_epi16(_mm256_max_epi16(pairs_at(k), pairs_at(k + 32)),
                                     _mm256_max_epi16(pairs_at(k + 64), pairs_at(k + 96))),
                    limits))
          break;
    for (size_t place = 0; k < bytes; k += 32) {
      const __m256i pairs =
          k + 32 <= bytes ? pairs_at(k) : pairs_of(load_quads(from + k, quads_of(bytes - k)));
      if (exceeds(pairs, limits + place)) break;
      place += 16;
      if (place == period_) place = 0;
    }
    next_is_crowded_ = k < bytes;
    const size_t fit = next_is_crowded_ ? (uint32_t)k / (uint32_t)stride_ : most,
                 rows = fit - fit % (2 * kWideMr);
    if (rows) return rows;
    next_is_crowded_ = false;
    return fit >= step ? step : 0;
  }

  // Whether no pair of the rows from `from` on is crowded. Rows that overlap or lie side by side
  // are looked at as one.
  OCTET_INLINE inline bool fit(const SomeRows& some, const uint8_t* from, size_t rows) const {
    const Limits& limits = answers_.limits;
    const __m256i ones = _mm256_set1_epi8(1), least = _mm256_set1_epi16(limits.least);
    const size_t depth = 4 * some.groups, stride = some.stride;
    const bool spans = stride == depth ? depth % 32 : stride < depth && stride % 4 == 0;
    const size_t bytes = spans ? (rows - 1) * stride + depth : depth;
    const int16_t* most = limits.most;
    const uint8_t* tap = from;
    for (size_t i = 0;; most += depth / 2) {
      __m256i crowded = _mm256_setzero_si256();
      const bool fits = for_each_load(bytes, [&](const auto& load, size_t k) OCTET_INLINE {
        __m256i largest = _mm256_setzero_si256();
        const uint8_t* at = tap + k;
        const auto add = [&]() OCTET_INLINE {
          largest = _mm256_max_epi16(largest, _mm256_maddubs_epi16(load(at), ones));
          at += stride;
        };
        if (spans) {
          add();
          crowded = _mm256_or_si256(crowded, _mm256_cmpgt_epi16(largest, least));
          return true;
        }
        OCTET_NO_UNROLL
        for (size_t row = 0; row < rows; row += kWideMr)
          unroll<kWideMr>([&](auto) OCTET_INLINE { add(); });
        crowded = _mm256_cmpgt_epi16(largest, _mm256_loadu_si256((const __m256i*)(most + k / 2)));
        return _mm256_testz_si256(crowded, crowded) != 0;
      });
      if (!fits || !_mm256_testz_si256(crowded, crowded)) return false;
      if (++i == some.taps) return true;
      tap += some.tap_steps ? (size_t)some.tap_steps[i - 1] : some.tap;
    }
  }

  // Adds to the init of the rows what crowded groups lose, unless these are too many.
  __attribute__((noinline)) bool correct(SomeRows* some, size_t rows) {
    const size_t depth = 4 * some->groups, all = some->taps * depth,
                 most = smaller(rows * all / 64, kMostCrowded);
    for (size_t row = 0; corrected_ == kNone && row < 2 * kWideMr; ++row) set_init(row);
    for (size_t e = 0; corrected_ != kNone && e < corrected_; ++e) set_init(crowded_[e].row);
    corrected_ = 0;
    size_t count = 0;
    const uint8_t* tap = some->data;
    if (period_ && rows * depth <= 2 * Limits::kPairs) {  // as one row
      if (!find_crowded(tap, 0, 1, rows * depth, 0, answers_.limits.most, 0, most, crowded_,
                        &count))
        return false;
      for (size_t e = 0; e < count; ++e) {
        crowded_[e].row = crowded_[e].group / (uint32_t)(depth / 4);
        crowded_[e].group -= crowded_[e].row * (uint32_t)(depth / 4);
      }
    } else
      for (size_t i = 0, first = 0;; first += depth) {
        if (!find_crowded(tap, some->stride, rows, depth, 0, answers_.limits.most + first / 2,
                          first / 4, most, crowded_, &count))
          return false;
        if (++i == some->taps) break;
        tap += some->tap_steps ? (size_t)some->tap_steps[i - 1] : some->tap;
      }
    for (size_t e = 0; e < count; ++e)
      add_loss(t_, crowded_[e], init_ + crowded_[e].row * kColumns);
    corrected_ = count;
    some->init = init_, some->init_stride = kColumns;
    return true;
  }

  __attribute__((noinline)) void set_init(size_t row) {
    const int32_t* const from = t_.init;
    const size_t columns = t_.cols;
    int32_t* const to = init_ + row * kColumns;
    OCTET_NO_UNROLL
    for (size_t column = 0; column < columns; column += 8)
      _mm256_store_si256((__m256i*)(to + column),
                         _mm256_loadu_si256((const __m256i*)(from + column)));
  }

  // Copies or widens. Of rows that overlap, all of a tap at once.
  template <bool words>
  __attribute__((noinline)) void copy(const uint8_t* from, size_t rows) {
    const size_t span = overlap_ ? (rows - 1) * stride_ + depth_ : depth_;
    uint8_t* to = data_;
    for (size_t i = 0;; to += span) {
      const auto row_at = [&](size_t row) OCTET_INLINE { return from + row * stride_; };
      const auto put = [](__m256i x, uint8_t* place) OCTET_INLINE {
        words ? widen(x, place, kAllOdd) : _mm256_storeu_si256((__m256i*)place, x);
      };
      if (overlap_)
        for_each_vector<1>(row_at, 1, span, t_.lhs_flip, to, 0, put);
      else
        for_each_vector<kWideMr>(row_at, rows, span, t_.lhs_flip, to, row_bytes(), put);
      if (++i == t_.taps) break;
      from += t_.tap_steps[i - 1];
    }
    copied_.tap = span, copied_.words = words;
    if (words) corrected_ = kNone;  // the odd words are where the init was
    copied_.init = t_.init, copied_.init_stride = 0;
  }

  static constexpr size_t kMostCrowded = 16, kColumns = 64, kNone = SIZE_MAX,
                          kTogether = 8192;  // bytes, which stay in L1
  const Tile& t_;
  Answers& answers_;
  const size_t stride_, depth_;
  const bool deep_, overlap_;
  const uint16_t period_;
  const size_t together_;         // rows that are asked about before they are multiplied
  bool next_is_crowded_ = false;  // the rows behind those of the last answer
  SomeRows lying_, copied_;
  CrowdedGroup crowded_[kMostCrowded];
  size_t corrected_ = kNone;  // of these, by which init_ differs from t_.init; kNone: it is not set
  alignas(64) uint8_t data_[kAllOdd + 2 * kWideMr * kColumns * sizeof(int32_t)];
  int32_t* const init_ = (int32_t*)(data_ + kAllOdd);  // of bytes
};

}  // namespace
}  // namespace octet
