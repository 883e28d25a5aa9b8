// SPDX-License-Identifier: Apache-2.0
// Multiplies rows by a micro-panel, tile after tile, and makes outputs of the tiles before
// meanwhile. TMUL and the vector units work at the same time only where their instructions lie
// mixed: a store of a tile register waits for its products, and hardly any later instruction begins
// before it.
//
//     tile i:     for each register of sums: store those of tile i - 1, load the init, multiply a step
//                 multiply the other steps
//     meanwhile:  after each product, a register of bytes of tile i - 2
//
// A tile of depth 64 then takes 0.7 of the time of its parts one after the other, one of depth 256
// takes 0.6 (Emerald Rapids, 2026-12-01).
#pragma once

#include "kernels/core/limits.h"
#include "kernels/x86/amx/tiles.h"
#include "kernels/x86/shared/requantize.h"
#include "kernels/x86/shared/tflite.h"

namespace octet {
namespace {

// The scales of 16 columns in float mode.
struct FloatColumns {
  __m512 scales;
  OCTET_INLINE inline void load(const Tile& t, size_t column) {
    scales = _mm512_loadu_ps(t.scale + column);
  }
  OCTET_INLINE inline __m512i scale(__m512i acc) const { return scaled(acc, scales); }
};
// ... and in TFLite mode, by floats.
struct TfliteColumnsByFloats {
  TfliteFloatScaler<true> scaler;
  OCTET_INLINE inline void load(const Tile& t, size_t column) {
    scaler.load((const int32_t*)t.scale + column, t.requantization->tflite_apart);
  }
  OCTET_INLINE inline __m512i scale(__m512i acc) const { return scaler.scale(acc); }
};

// Makes bytes of sums in memory, a register of 64 at a time: of one row of a wide tile, of two or
// four rows of a tall one.
template <bool wide, typename Columns>
class BytesExit {
 public:
  static constexpr bool kInMemory = true;

  OCTET_INLINE inline BytesExit(const Tile& t, size_t vectors)
      : saturates_(is_u8(t) && t.requantization->zero_point == 0 && t.requantization->lo == 0 &&
                   t.requantization->hi == 255),
        flip_(splat<__m512i>((uint8_t)(is_u8(t) ? 128 : 0))),
        zero_point_(splat<__m512i>((int16_t)(t.requantization->zero_point - (is_u8(t) ? 128 : 0)))),
        lo_(_mm512_xor_si512(splat<__m512i>((uint8_t)t.requantization->lo), flip_)),
        hi_(_mm512_xor_si512(splat<__m512i>((uint8_t)t.requantization->hi), flip_)),
        mask_(~(__mmask64)0 >> (64 - t.cols)),
        stride_(t.dst_stride),
        rows_(wide ? 1 : 4 / vectors) {
    unroll<4>([&](auto v) OCTET_INLINE {
      const size_t column = wide || vectors == 1 ? v * (size_t)wide : v % 2;
      columns_[v].load(t, column < vectors ? 16 * column : 0);
    });
  }

  // Begins with the sums of `rows` rows, behind each other. The bytes before are all made.
  OCTET_INLINE inline void begin(const int32_t* sums, uint8_t* dst, size_t rows) {
    sums_ = sums, dst_ = dst, left_ = rows / rows_;
  }
  // Makes up to `most` registers of bytes.
  OCTET_INLINE inline void some(size_t most) {
    for (; most && left_; --most, --left_, sums_ += 64, dst_ += rows_ * stride_) {
      __m512i q[4];
      unroll<4>([&](auto v)
                    OCTET_INLINE { q[v] = columns_[v].scale(_mm512_load_si512(sums_ + 16 * v)); });
      const __m512i bytes = in_order(packed(pack_int16(q[0], q[1]), pack_int16(q[2], q[3])));
      if (wide) {
        _mm512_mask_storeu_epi8(dst_, mask_, bytes);
      } else if (rows_ == 2) {
        _mm256_mask_storeu_epi8(dst_, (__mmask32)mask_, _mm512_castsi512_si256(bytes));
        _mm256_mask_storeu_epi8(dst_ + stride_, (__mmask32)mask_,
                                _mm512_extracti64x4_epi64(bytes, 1));
      } else {
        unroll<4>([&](auto row) OCTET_INLINE {
          _mm_mask_storeu_epi8(dst_ + row * stride_, (__mmask16)mask_,
                               _mm512_extracti32x4_epi32(bytes, row.value));
        });
      }
    }
  }

 private:
  static bool is_u8(const Tile& t) { return t.requantization->dst_type == ElementType::kU8; }
  // As Requantizer does, but with one branch, for this text lies behind each product.
  OCTET_INLINE inline __m512i packed(__m512i low, __m512i high) const {
    if (saturates_) return pack_u8(low, high);
    const __m512i s8 = pack_s8(add_int16(low, zero_point_), add_int16(high, zero_point_));
    return _mm512_xor_si512(min_s8(max_s8(s8, lo_), hi_), flip_);
  }

  Columns columns_[4];
  const bool saturates_;
  const __m512i flip_, zero_point_, lo_, hi_;
  const __mmask64 mask_;
  const size_t stride_, rows_;
  const int32_t* sums_ = nullptr;
  uint8_t* dst_ = nullptr;
  size_t left_ = 0;
};

template <bool wide>
using FloatBytes = BytesExit<wide, FloatColumns>;
template <bool wide>
using TfliteBytes = BytesExit<wide, TfliteColumnsByFloats>;

// Sums go to their place at once.
template <bool wide>
struct SumsExit {
  static constexpr bool kInMemory = false;
  OCTET_INLINE inline SumsExit(const Tile&, size_t) {}
  OCTET_INLINE inline void begin(const int32_t*, uint8_t*, size_t) {}
  OCTET_INLINE inline void some(size_t) {}
};

// The first `count` bytes of a vector.
inline __mmask64 first_bytes(size_t count) { return count ? ~(__mmask64)0 >> (64 - count) : 0; }

// Copies rows of so many bytes, at most a vector, to rows of a register, with zeros behind them.
__attribute__((noinline)) void copy_last(const uint8_t* lhs, size_t stride, size_t rows,
                                         size_t bytes, uint8_t* to) {
  for (const __mmask64 there = first_bytes(bytes); rows; --rows, lhs += stride, to += kSteps)
    _mm512_store_si512(to, _mm512_maskz_loadu_epi8(there, lhs));
}

// The configuration for tiles whose lower (wide: only) height has so many rows. last: the depth of
// the last step, 64 if it is whole.
inline __m512i registers_of(bool wide, size_t rows, size_t last) {
  uint64_t all_bytes = 0, all_rows = 0, lower = tile_rows(2) | tile_rows(3) | tile_rows(5);
  for (int tile = 0; tile < 8; ++tile)
    all_bytes |= tile_row_bytes(tile), all_rows |= tile_rows(tile);
  if (wide) lower |= tile_rows(0) | tile_rows(1) | tile_rows(4);
  __m512i c = _mm512_maskz_set1_epi8(kTilePalette, 1);
  c = _mm512_mask_set1_epi8(c, all_bytes, (char)kSteps);
  c = _mm512_mask_set1_epi8(c, all_rows, (char)kRows);
  c = _mm512_mask_set1_epi8(c, lower, (char)rows);
  if (last == kSteps) return c;
  c = _mm512_mask_set1_epi8(c, tile_row_bytes(5), (char)last);
  return _mm512_mask_set1_epi8(c, tile_rows(7), (char)(last / kGroup));
}

// Rows of a tile, and where their outputs go.
struct TileRows {
  size_t first, count;
  uint8_t* dst;
  size_t dst_stride;  // bytes
};

// Multiplies rows of t, whose init is one row where there are more rows than in a tile. Then the last
// tile may repeat rows of the tile before, for tiles of fewer rows need another configuration.
//
//     wide:  16 rows x four vectors of 16 columns        tall:  32 rows x two vectors
//     +------+------+------+------+                      +------+------+
//     | tmm0 | tmm1 | tmm2 | tmm3 |                      | tmm0 | tmm1 |
//     +------+------+------+------+                      +------+------+
//     lhs tmm4, rhs tmm6                                 | tmm2 | tmm3 |
//                                                        +------+------+
//                                                        lhs tmm4, tmm5, rhs tmm6, tmm7
//
// Where a depth ends with a step of fewer than 64, this has lhs tmm5 and rhs tmm7 to itself, of so
// many bytes and groups; a tall tile then loads tmm4 and tmm6 once more per step. room: of a tile's
// last step, where the depth ends within a group, for wide tiles only; no bytes behind it are read.
template <bool wide, template <bool> class ExitOf>
__attribute__((noinline)) void multiply_tiles_of(const Tile& t, bool is_signed, const TileRows& at,
                                                 uint8_t* room = nullptr) {
  using Exit = ExitOf<wide>;
  constexpr size_t kHeights = wide ? 1 : 2, kTileRows = kHeights * kRows;
  const size_t rows = at.count, depth = t.depth, taps = t.taps, lhs_stride = t.lhs_stride,
               dst_stride = at.dst_stride, panel = t.rhs_panel_stride,
               vectors = divide_up(t.cols, 16),
               width = wide           ? 64
                       : vectors == 1 ? 16
                                      : 32,
               count = divide_up(rows, kTileRows),
               last_row = rows < kTileRows ? 0 : rows - kTileRows, whole = depth / kSteps,
               last = depth % kSteps, steps = whole + (last > 0),
               tap_bytes = divide_up(depth, kGroup) * kGroupBytes,
               products = taps * steps * kHeights * vectors,
               at_once = divide_up(kTileRows * width / 64, products);
  const size_t init_stride = t.init_stride;
  const int32_t* const init = t.init + at.first * init_stride;
  const ptrdiff_t* const tap_steps = t.tap_steps;
  const uint8_t *const lhs_first = (const uint8_t*)t.lhs + at.first * lhs_stride, *const rhs_first =
                                                                                      t.rhs;
  uint8_t* const dst = at.dst;
  configure_tiles(registers_of(wide, rows < kTileRows ? rows - (kHeights - 1) * kRows : kRows,
                               last ? round_up_pow2(last, kGroup) : kSteps));
  alignas(64) int32_t sums[Exit::kInMemory ? 2 : 1][Exit::kInMemory ? kMaxTile : 16];
  Exit exit(t, vectors);

  // Where the sums of the tile before go
  uint8_t* to = nullptr;
  const size_t to_stride = Exit::kInMemory ? width * sizeof(int32_t) : dst_stride;
  const uint8_t *lhs = nullptr, *rhs = nullptr;
  size_t stride = lhs_stride;
  bool begins = true, is_last = false;

  const auto store = [&](auto h, auto v) OCTET_INLINE {
    store_tile_register<kHeights * h.value + v.value>(to + h * kRows * to_stride + 64 * v,
                                                      to_stride);
  };
  const auto begin = [&](auto h, auto v) OCTET_INLINE {
    if (!begins) return;
    if (to) store(h, v);
    load_tile<kHeights * h.value + v.value>(init + h * kRows * init_stride + 16 * v,
                                            init_stride * sizeof(int32_t));
  };
  const auto load_lhs = [&](auto tile, auto h) OCTET_INLINE {
    load_tile<tile.value>(lhs + h * kRows * stride, stride);
  };
  const auto load_rhs = [&](auto tile, auto v)
                            OCTET_INLINE { load_tile<tile.value>(rhs + v * panel, kGroupBytes); };
  const auto multiply = [&](auto h, auto v, auto a, auto b) OCTET_INLINE {
    constexpr int at = (int)kHeights * h.value + v.value;
    if (is_signed)
      add_tile_product<true, at, a.value, b.value>();
    else
      add_tile_product<false, at, a.value, b.value>();
  };
  constexpr Int<0> top, left;
  constexpr Int<1> low, right;
  constexpr Int<4> four;
  constexpr Int<5> five;
  constexpr Int<6> six;
  constexpr Int<7> seven;
  const auto wide_step = [&]() OCTET_INLINE {
    is_last ? load_lhs(five, top) : load_lhs(four, top);
    unroll<4>([&](auto v) OCTET_INLINE {
      if (v.value && v >= (int)vectors) return;
      begin(top, v);
      if (is_last)
        load_rhs(seven, v), multiply(top, v, five, seven);
      else
        load_rhs(six, v), multiply(top, v, four, six);
      exit.some(at_once);
    });
  };
  // The products of the first vector, from the top, and of the second, to the top.
  const auto tall_step = [&]() OCTET_INLINE {
    begin(top, left);
    if (is_last)
      load_lhs(five, top), load_rhs(seven, left), multiply(top, left, five, seven);
    else
      load_lhs(four, top), load_rhs(six, left), multiply(top, left, four, six);
    exit.some(at_once);
    begin(low, left);
    if (is_last)
      load_lhs(five, low), multiply(low, left, five, seven);
    else if (last)
      load_lhs(four, low), multiply(low, left, four, six);
    else
      load_lhs(five, low), multiply(low, left, five, six);
    exit.some(at_once);
    if (vectors == 1) return;
    begin(low, right);
    if (is_last)
      load_rhs(seven, right), multiply(low, right, five, seven);
    else if (last)
      load_rhs(six, right), multiply(low, right, four, six);
    else
      load_rhs(seven, right), multiply(low, right, five, seven);
    exit.some(at_once);
    begin(top, right);
    if (is_last)
      load_lhs(five, top), multiply(top, right, five, seven);
    else if (last)
      load_lhs(four, top), multiply(top, right, four, six);
    else
      multiply(top, right, four, seven);
    exit.some(at_once);
  };

  const auto row_of = [&](size_t tile) OCTET_INLINE { return smaller(tile * kTileRows, last_row); };
  for (size_t tile = 0; tile < count; ++tile) {
    const size_t row = row_of(tile);
    uint8_t* const out = dst + row * dst_stride;
    for (size_t r = 0; r < smaller(kTileRows, rows); ++r)
      _mm_prefetch((const char*)out + r * dst_stride, _MM_HINT_T0);
    if (tile >= 2) exit.begin(sums[tile % 2], dst + row_of(tile - 2) * dst_stride, kTileRows);
    const uint8_t *tap_lhs = lhs_first + row * lhs_stride, *tap_rhs = rhs_first;
    begins = true;
    for (size_t tap = 0;;) {
      lhs = tap_lhs, rhs = tap_rhs, stride = lhs_stride;
      for (size_t step = 0; step < steps; ++step, lhs += kSteps, rhs += kStepBytes) {
        is_last = step == whole;
        if (wide && room && is_last) {
          copy_last(lhs, lhs_stride, smaller(kTileRows, rows), last, room);
          lhs = room, stride = kSteps;
        }
        wide ? wide_step() : tall_step();
        begins = false;
      }
      if (++tap == taps) break;
      tap_lhs += tap_steps[tap - 1];
      tap_rhs += tap_bytes;
    }
    to = Exit::kInMemory ? (uint8_t*)sums[tile % 2] : out;
  }
  if (count > 1) {
    exit.begin(sums[count % 2], dst + row_of(count - 2) * dst_stride, kTileRows);
    exit.some(SIZE_MAX);
  }
  unroll<kHeights>([&](auto h) OCTET_INLINE {
    unroll<4 / kHeights>([&](auto v) OCTET_INLINE {
      if (v < (int)vectors) store(h, v);
    });
  });
  exit.begin(sums[(count - 1) % 2], dst + last_row * dst_stride, kTileRows);
  exit.some(SIZE_MAX);
}

}  // namespace
}  // namespace octet
