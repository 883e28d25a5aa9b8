// SPDX-License-Identifier: Apache-2.0
// Multiplies rows by a micro-panel, tile after tile, and makes outputs of the tiles before
// meanwhile. TMUL and the vector units work at the same time only where their instructions lie
// mixed: a store of a tile register waits for its products, and hardly any later instruction begins
// before it.
//
//     tile i:     store each register of tile i - 1's sums, load its init, multiply the first step
//                 multiply the other steps
//     meanwhile:  after each product, a register of bytes of tile i - 1 or, of few products, i - 2
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

constexpr Int<0> kTop, kLeft;
constexpr Int<1> kLow, kRight;
// Tile registers.
constexpr Int<4> k4;
constexpr Int<5> k5;
constexpr Int<6> k6;
constexpr Int<7> k7;

// Multiplies rows of a Tile in micro-tiles, here called tiles. The init is one row where there are
// more rows than in one of these. Then the last one may repeat rows of the one before, for fewer
// rows need another configuration.
//
//     wide:  16 rows x four vectors of 16 columns        tall:  32 rows x two vectors
//     +------+------+------+------+                      +------+------+
//     | tmm0 | tmm1 | tmm2 | tmm3 |                      | tmm0 | tmm1 |  top
//     +------+------+------+------+                      +------+------+
//     lhs tmm4, rhs tmm6                                 | tmm2 | tmm3 |  low
//                                                        +------+------+
//                                                        lhs tmm4, tmm5, rhs tmm6, tmm7
//
// Where a depth ends with a step of fewer than 64, this has lhs tmm5 and rhs tmm7 to itself, of so
// many bytes and groups; a tall tile then loads tmm4 and tmm6 once more per step.
template <bool wide, typename Exit>
class MicroTiles {
  static constexpr size_t kHeights = wide ? 1 : 2, kTileRows = kHeights * kRows;

 public:
  // sums: of two tiles, where they leave through memory. room: as of multiply_micro_tiles
  OCTET_INLINE inline MicroTiles(const Tile& t, bool is_signed, const TileRows& at, int32_t* sums,
                                 uint8_t* room)
      : signed_(is_signed),
        vectors_(divide_up(t.cols, 16)),
        rows_(at.count),
        count_(divide_up(rows_, kTileRows)),
        last_rows_(!wide && rows_ > kTileRows && (rows_ - 1) % kTileRows < kRows ? kRows
                                                                                 : kTileRows),
        whole_(t.depth / kSteps),
        last_(t.depth % kSteps),
        taps_(t.taps),
        tap_steps_(t.tap_steps),
        lhs_stride_(t.lhs_stride),
        panel_(t.rhs_panel_stride),
        tap_bytes_(divide_up(t.depth, kGroup) * kGroupBytes),
        first_lhs_((const uint8_t*)t.lhs + at.first * t.lhs_stride),
        first_rhs_(t.rhs),
        init_stride_(t.init_stride),
        init_(t.init + at.first * t.init_stride),
        dst_(at.dst),
        dst_stride_(at.dst_stride),
        sums_(sums),
        sums_stride_(Exit::kInMemory ? bytes_of_sums(vectors_) : at.dst_stride),
        room_(room),
        exit_(t, vectors_) {
    const size_t products = taps_ * (whole_ + (last_ > 0)) * kHeights * vectors_,
                 bytes = kTileRows * bytes_of_sums(vectors_) / 256;  // registers of them
    late_ = products - kHeights * vectors_ >= bytes;
    at_once_ = late_ ? 1 : divide_up(bytes, products);
    configure_tiles(registers_of(wide, rows_ < kTileRows ? rows_ - (kHeights - 1) * kRows : kRows,
                                 last_ ? round_up_pow2(last_, kGroup) : kSteps));
  }

  OCTET_INLINE inline void multiply() {
    for (size_t tile = 0; tile < count_; ++tile) {
      uint8_t* const out = dst_of(tile);
      for (size_t row = 0; row < smaller(kTileRows, rows_); ++row)
        _mm_prefetch((const char*)out + row * dst_stride_, _MM_HINT_T0);
      if (!late_ && tile >= 2) exit_.begin(sums_of(tile), dst_of(tile - 2), kTileRows);
      half_ = tile + 1 == count_ && last_rows_ < kTileRows;
      multiply_one(tile);
      to_ = Exit::kInMemory ? (uint8_t*)sums_of(tile) : out;
    }
    for (int turn = 0; turn < 3; ++turn) {  // a loop, for one text of the exit
      exit_.some(SIZE_MAX);
      if (turn == 0 && !late_ && count_ > 1)
        exit_.begin(sums_of(count_), dst_of(count_ - 2), kTileRows);
      if (turn != 1) continue;
      unroll<4 / kHeights>([&](auto v) OCTET_INLINE {
        if (v >= (int)vectors_) return;
        store(kTop, v);
        if constexpr (!wide)
          if (!half_) store(kLow, v);
      });
      exit_.begin(sums_of(count_ - 1), dst_of(count_ - 1), last_rows_);
    }
  }

 private:
  // From a row of sums in memory to the next.
  static size_t bytes_of_sums(size_t vectors) {
    return kGroupBytes * (wide ? 4 : vectors > 1 ? 2 : 1);
  }
  size_t row_of(size_t tile) const {
    return rows_ <= kTileRows ? 0 : smaller(tile * kTileRows, rows_ - last_rows_);
  }
  uint8_t* dst_of(size_t tile) const { return dst_ + row_of(tile) * dst_stride_; }
  // Where bytes are made of sums of the tile before, these leave their place in time.
  int32_t* sums_of(size_t tile) const { return sums_ + (late_ ? 0 : tile % 2 * kMaxTile); }

  OCTET_INLINE inline void multiply_one(size_t tile) {
    const uint8_t *tap_lhs = first_lhs_ + row_of(tile) * lhs_stride_, *tap_rhs = first_rhs_;
    begins_ = true;
    for (size_t tap = 0;;) {
      lhs_ = tap_lhs, rhs_ = tap_rhs, stride_ = lhs_stride_;
      for (size_t step = 0; step < whole_ + (last_ > 0); ++step) {
        is_last_ = step == whole_;
        if (wide && room_ && is_last_) {
          copy_last(lhs_, lhs_stride_, smaller(kTileRows, rows_), last_, room_);
          lhs_ = room_, stride_ = kSteps;
        }
        if constexpr (wide)
          wide_step();
        else
          tall_step();
        if (late_ && begins_ && tile) exit_.begin(sums_of(tile), dst_of(tile - 1), kTileRows);
        begins_ = false;
        lhs_ += kSteps, rhs_ += kStepBytes;
      }
      if (++tap == taps_) return;
      tap_lhs += tap_steps_[tap - 1];
      tap_rhs += tap_bytes_;
    }
  }

  OCTET_INLINE inline void wide_step() {
    is_last_ ? load_lhs(k5, kTop) : load_lhs(k4, kTop);
    unroll<4>([&](auto v) OCTET_INLINE {
      if (v.value && v >= (int)vectors_) return;
      begin(kTop, v);
      if (is_last_)
        load_rhs(k7, v), product(kTop, v, k5, k7);
      else
        load_rhs(k6, v), product(kTop, v, k4, k6);
      exit_.some(at_once_);
    });
  }

  // The products of the upper height, to the right, and of the lower one, to the left.
  OCTET_INLINE inline void tall_step() {
    const bool apart = last_;
    begin(kTop, kLeft);
    is_last_ ? (load_lhs(k5, kTop), load_rhs(k7, kLeft), product(kTop, kLeft, k5, k7))
             : (load_lhs(k4, kTop), load_rhs(k6, kLeft), product(kTop, kLeft, k4, k6));
    exit_.some(at_once_);
    if (vectors_ > 1) {
      begin(kTop, kRight);
      is_last_ ? (load_rhs(k7, kRight), product(kTop, kRight, k5, k7))
      : apart  ? (load_rhs(k6, kRight), product(kTop, kRight, k4, k6))
               : (load_rhs(k7, kRight), product(kTop, kRight, k4, k7));
      exit_.some(at_once_);
    }
    if (half_) {
      if (begins_) store(kLow, kLeft);
      if (begins_ && vectors_ > 1) store(kLow, kRight);
      return;
    }
    apart && !is_last_ ? load_lhs(k4, kLow) : load_lhs(k5, kLow);
    if (vectors_ > 1) {
      begin(kLow, kRight);
      apart && !is_last_ ? product(kLow, kRight, k4, k6) : product(kLow, kRight, k5, k7);
      exit_.some(at_once_);
      if (apart) is_last_ ? load_rhs(k7, kLeft) : load_rhs(k6, kLeft);
    }
    begin(kLow, kLeft);
    is_last_ ? product(kLow, kLeft, k5, k7)
    : apart  ? product(kLow, kLeft, k4, k6)
             : product(kLow, kLeft, k5, k6);
    exit_.some(at_once_);
  }

  template <typename Height, typename Vector>
  static constexpr int sums_at(Height, Vector) {
    return (int)kHeights * Height::value + Vector::value;
  }
  template <typename Height, typename Vector>
  OCTET_INLINE inline void store(Height h, Vector v) const {
    store_tile_register<sums_at(h, v)>(to_ + h * kRows * sums_stride_ + kGroupBytes * v,
                                       sums_stride_);
  }
  // Stores the sums of the tile before and loads the init, if this is the first step of a tile.
  template <typename Height, typename Vector>
  OCTET_INLINE inline void begin(Height h, Vector v) const {
    if (!begins_) return;
    if (to_) store(h, v);
    load_tile<sums_at(h, v)>(init_ + h * kRows * init_stride_ + 16 * v,
                             init_stride_ * sizeof(int32_t));
  }
  template <typename Register, typename Height>
  OCTET_INLINE inline void load_lhs(Register, Height h) const {
    load_tile<Register::value>(lhs_ + h * kRows * stride_, stride_);
  }
  template <typename Register, typename Vector>
  OCTET_INLINE inline void load_rhs(Register, Vector v) const {
    load_tile<Register::value>(rhs_ + v * panel_, kGroupBytes);
  }
  template <typename Height, typename Vector, typename Lhs, typename Rhs>
  OCTET_INLINE inline void product(Height h, Vector v, Lhs, Rhs) const {
    if (signed_)
      add_tile_product<true, sums_at(h, v), Lhs::value, Rhs::value>();
    else
      add_tile_product<false, sums_at(h, v), Lhs::value, Rhs::value>();
  }

  const bool signed_;
  const size_t vectors_, rows_, count_, last_rows_;  // count: of tiles; last_rows: of the last one
  const size_t whole_, last_, taps_;
  const ptrdiff_t* const tap_steps_;
  const size_t lhs_stride_, panel_, tap_bytes_;
  const uint8_t *const first_lhs_, *const first_rhs_;
  const size_t init_stride_;
  const int32_t* const init_;
  uint8_t* const dst_;
  const size_t dst_stride_;
  int32_t* const sums_;
  const size_t sums_stride_;
  uint8_t* const room_;
  Exit exit_;
  // Whether the products behind the first step suffice for the bytes of the tile before; else each
  // makes at_once registers of those of the tile before that
  bool late_;
  size_t at_once_;
  // Where the sums of the tile before go; before the first one, null
  uint8_t* to_ = nullptr;
  const uint8_t *lhs_ = nullptr, *rhs_ = nullptr;  // of the step
  size_t stride_ = 0;
  bool begins_ = false, is_last_ = false, half_ = false;  // the step is a tile's first, its last
};

// room: of a tile's last step, where the depth ends within a group, for wide tiles only; then no
// bytes behind a row are read.
template <bool wide, template <bool> class ExitOf>
__attribute__((noinline)) void multiply_micro_tiles(const Tile& t, bool is_signed,
                                                    const TileRows& at, uint8_t* room = nullptr) {
  using Exit = ExitOf<wide>;
  alignas(64) int32_t sums[Exit::kInMemory ? 2 * kMaxTile : 1];
  MicroTiles<wide, Exit>(t, is_signed, at, sums, room).multiply();
}

}  // namespace
}  // namespace octet
