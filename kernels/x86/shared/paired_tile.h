// SPDX-License-Identifier: Apache-2.0
// u8 x s8 -> s32 or 8 bits, VPMADDUBSW on ymm or zmm, up to 6 rows x 64 columns. Exact for all
// inputs on paired weights (kernels/core/paired_weights.h).
//
// For each panel of 16 columns the kernel copies the rows of a tile part by part, up to 512 steps,
// in the order of the panel's weights; then, or on ymm meanwhile, it multiplies them:
//
//                      columns 0-7   8-15
//                     +------------+--------+      ymm: 12 accumulators, 2 for rhs, 1 for lhs,
//   row i, 4 bytes    | acc[i][0]  |  [1]   |      1 product: 16 registers of 16
//   broadcast         +------------+--------+      zmm: one vector of columns, 9 registers
//
// Per group of 4 along depth and vector of columns: 6 broadcasts, a load of weights, 6 times
// VPMADDUBSW, VPMADDWD by ones and VPADDD. The instructions executed do not depend on the lhs.
//
// One text for both vectors. The including file defines kStoresTogether; if it is false leave(tile,
// acc), which stores a tile of one panel from registers, else leave_sums(tile, sums), which stores
// all panels from memory.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/shared/accumulate.h"
#include "kernels/x86/shared/layouts.h"
#include "kernels/x86/shared/micro_panel.h"
#include "kernels/x86/shared/quads.h"
#include "kernels/x86/shared/tail.h"
#include "kernels/x86/shared/vector.h"

namespace octet {
namespace {

constexpr int kMr = 6, kNr = 64;
constexpr int kBytes = sizeof(Vector), kLanes = kBytes / 4;
constexpr int kVectors = kPairColumns / kLanes;  // of a panel

// Broadcasts a group of a row.
OCTET_INLINE inline Vector broadcast(const uint8_t* bytes) {
  int32_t quad;
  __builtin_memcpy(&quad, bytes, sizeof quad);
  return OCTET_MM(set1_epi32)(quad);
}

// Broadcasts the groups of an extra's halves for vector v of a panel.
template <int v>
OCTET_INLINE inline Vector broadcast_extra(const uint8_t* low, const uint8_t* high) {
#if defined(__AVX512BW__)
  int32_t quad;
  __builtin_memcpy(&quad, high, sizeof quad);
  return _mm512_mask_set1_epi32(broadcast(low), 0xff00, quad);
#else
  return broadcast(v ? high : low);
#endif
}

// Assembly, because GCC 12 would keep the ones in a register that the tile needs.
OCTET_INLINE inline void add_pairs(Vector& acc, Vector int16) {
  __asm__("vpmaddwd %1, %0, %0" : "+v"(int16) : "m"(*(const Vector*)kOnes));
  accumulate(acc, int16);
}

// ---- the lhs ------------------------------------------------------------------------------------

// Bytes from one row of a part to the next. On ymm a load from the eighth row after a store would
// take 4 KB apart for the same place.
constexpr size_t kRow = kPairPart + (kBytes == 32 ? kBytes : 0);

// One part of a tile's rows.
template <int rows>
struct Lhs {
  alignas(64) uint8_t bytes[rows][kRow];
};

// Reorders up to kPairPart steps of each row by one VPSHUFB per vector; places without a step have
// the top bit set, or meet zero weights. most: 0, or the count of rows.
template <int most>
OCTET_INLINE inline void arrange_rows(const uint8_t* const* from, size_t rows, size_t at,
                                      size_t steps, const uint8_t* order, uint32_t flip,
                                      uint8_t* to) {
  const auto for_each_row = [=](const auto& f) OCTET_INLINE {
    if constexpr (most != 0) {
      unroll<most>([&](auto i) OCTET_INLINE { f((size_t)i); });
    } else {
      OCTET_NO_UNROLL
      for (size_t i = 0; i < rows; ++i) f(i);
    }
  };
  const size_t whole = steps / kBytes * kBytes;
  size_t k = 0;
  const auto arrange_whole = [&](const auto& flipped) OCTET_INLINE {
    OCTET_NO_UNROLL
    for (; k < whole; k += kBytes) {
      const Vector places = load(order + k);
      for_each_row([&](size_t i) OCTET_INLINE {
        store(to + i * kRow + k, flipped(OCTET_MM(shuffle_epi8)(load(from[i] + at + k), places)));
      });
    }
#if !defined(__AVX512BW__)
    if (k == steps || steps % kPairGroup) return;
    const Vector places = load(order + k);
    const Quads groups = quads_of(steps - k);
    for_each_row([&](size_t i) OCTET_INLINE {
      store(to + i * kRow + k,
            flipped(OCTET_MM(shuffle_epi8)(load_quads(from[i] + at + k, groups), places)));
    });
    k = steps;
#endif
  };
  if (flip) {
    const Vector flips = OCTET_MM(set1_epi32)((int)flip);
    arrange_whole([&](Vector x) OCTET_INLINE { return x ^ flips; });
  } else {
    arrange_whole([](Vector x) OCTET_INLINE { return x; });
  }
  for (; k < steps; k += kPairLane) {
    const __m128i places = _mm_loadu_si128((const __m128i*)(order + k)),
                  flips = _mm_set1_epi32((int)flip);
    const size_t left = steps - k;
    const auto put = [&](size_t i, __m128i x) OCTET_INLINE {
      _mm_storeu_si128((__m128i*)(to + i * kRow + k),
                       _mm_xor_si128(_mm_shuffle_epi8(x, places), flips));
    };
    if (left >= kPairLane) {
      for_each_row([&](size_t i) OCTET_INLINE {
        put(i, _mm_loadu_si128((const __m128i*)(from[i] + at + k)));
      });
    } else {
      OCTET_NO_UNROLL
      for (size_t i = 0; i < rows; ++i) put(i, tail(from[i] + at + k, left, 0));
    }
  }
}

template <int rows>
void arrange_all(const uint8_t* const* from, size_t at, size_t steps, const uint8_t* order,
                 uint32_t flip, uint8_t* to) {
  arrange_rows<rows>(from, rows, at, steps, order, flip, to);
}
// In one function for all smaller counts of rows.
__attribute__((noinline)) void arrange_few(const uint8_t* const* from, size_t rows, size_t at,
                                           size_t steps, const uint8_t* order, uint32_t flip,
                                           uint8_t* to) {
  arrange_rows<0>(from, rows, at, steps, order, flip, to);
}

// ---- a panel ------------------------------------------------------------------------------------

// Which columns of a panel meet a row: all, the first half, or up to four, of which a vector has
// the groups of 8 steps.
enum class Form { kAll, kHalf, kFew };

// The weights of vector v; two: of kFew's second group there are some.
template <Form form>
OCTET_INLINE inline Vector weights_of(const uint8_t* rhs, int v, [[maybe_unused]] bool two) {
#if !defined(__AVX512BW__)
  if (form == Form::kFew)
    return turned_quads(
        _mm_loadu_si128((const __m128i*)rhs),
        two ? _mm_loadu_si128((const __m128i*)(rhs + kPairGroupBytes)) : _mm_setzero_si128());
#endif
  return load(rhs + kBytes * v);
}
// Broadcasts the groups of a row that these weights meet.
template <Form form>
OCTET_INLINE inline Vector broadcast_for(const uint8_t* bytes) {
#if !defined(__AVX512BW__)
  if (form == Form::kFew) return _mm256_set1_epi64x((int64_t)load<uint64_t>(bytes));
#endif
  return broadcast(bytes);
}

template <Form form, int rows, int most>
OCTET_INLINE inline void add_groups(const uint8_t* a, const uint8_t* rhs, size_t groups,
                                    Vector (&acc)[rows][most]) {
  constexpr int vectors = form == Form::kAll ? most : 1, step = form == Form::kFew ? 2 : 1;
  OCTET_NO_UNROLL
  for (size_t k = 0; k < groups; k += step, a += step * kPairGroup, rhs += step * kPairGroupBytes) {
    // Only where a panel has two vectors, on ymm: on zmm the prefetch saves 4 % of the time with a
    // depth of 1024 and costs 4 % with 256 (Cascade Lake, 2026-11-28). The weights of
    // a product of one row come from memory 1.3 times as fast by the hardware's prefetchers alone
    // (Zen 4, 2026-11-28).
    if (vectors == 2 && rows > 1) _mm_prefetch((const char*)rhs + kWeightsAhead, _MM_HINT_T0);
    Vector b[vectors];
    unroll<vectors>([&](auto v) OCTET_INLINE { b[v] = weights_of<form>(rhs, v, k + 1 < groups); });
    unroll<rows>([&](auto i) OCTET_INLINE {
      const Vector quad = broadcast_for<form>(a + i * kRow);
      unroll<vectors>(
          [&](auto v) OCTET_INLINE { add_pairs(acc[i][v], OCTET_MM(maddubs_epi16)(quad, b[v])); });
    });
  }
}

// Vectors of a part's rows that are put in order while the one before is multiplied, whose ports
// have room for that. Not on zmm, where this gained little.
template <int rows>
struct Ahead {
  // of the vector that is multiplied: its place in the rows and their order, steps from it on
  const uint8_t *const *from, *order;
  size_t at, left;
  bool flip;

  // Puts the groups behind all whole vectors in order, and the first vector.
  OCTET_INLINE inline void begin(uint8_t* to) const {
    const size_t whole = left / kBytes * kBytes;
    for (size_t k = whole < left ? whole : 0;; k = 0) {
      const Quads groups = quads_of(left - k);
      arrange(k, to + k,
              [=](const uint8_t* bytes) OCTET_INLINE { return load_quads(bytes, groups); });
      if (!k) return;
    }
  }

  // Multiplies the part, two groups at a time, since counting takes ports, too.
  template <int vectors>
  OCTET_INLINE inline void add(uint8_t* a, const uint8_t* rhs, Vector (&acc)[rows][vectors]) {
    for (; left >= 2 * kBytes; left -= kBytes) {
      at += kBytes, order += kBytes;
      arrange(0, a + kBytes, [](const uint8_t* bytes) OCTET_INLINE { return load(bytes); });
      OCTET_NO_UNROLL
      for (size_t k = 0; k < kBytes; k += 2 * kPairGroup) {
        unroll<2>([&](auto j) OCTET_INLINE {
          add_groups<Form::kAll>(a + j * kPairGroup, rhs + j * kPairGroupBytes, 1, acc);
          // Else GCC 12 loads the next weights early, and keeps sums in memory
          unroll<j ? 0 : rows>([&](auto i) OCTET_INLINE {
            unroll<vectors>([&](auto v) OCTET_INLINE { pin(acc[i][v]); });
          });
        });
        a += 2 * kPairGroup, rhs += 2 * kPairGroupBytes;
      }
    }
    add_groups<Form::kAll>(a, rhs, left / kPairGroup, acc);
  }

  template <typename Load>
  OCTET_INLINE inline void arrange(size_t k, uint8_t* to, const Load& load_some) const {
    const size_t place = at + k;
    const Vector places = load(order + k);
    const auto each = [&](const auto& flipped) OCTET_INLINE {
      unroll<rows>([&](auto i) OCTET_INLINE {
        const uint8_t* row = from[i];
        __asm__("" : "+r"(row));  // else compilers keep sums of all rows
        store(to + i * kRow, flipped(OCTET_MM(shuffle_epi8)(load_some(row + place), places)));
      });
    };
    if (flip)
      each([](Vector x) OCTET_INLINE { return x ^ OCTET_MM(set1_epi8)((char)0x80); });
    else
      each([](Vector x) OCTET_INLINE { return x; });
  }
};

// The halves of a panel's columns are those of its two vectors, or of its only one.
template <Form form, int rows, int most>
OCTET_INLINE inline void add_extras(const Lhs<rows>& lhs, const uint8_t* rhs,
                                    const PairTable& table, size_t count,
                                    Vector (&acc)[rows][most]) {
  constexpr int vectors = form == Form::kAll ? most : 1;
  OCTET_NO_UNROLL
  for (size_t e = 0; e < count; ++e, rhs += kPairGroupBytes) {
    // Keeps a damaged blob's group number within the part
    const auto group = [&](int half) OCTET_INLINE {
      return lhs.bytes[0] + kPairGroup * (table.groups[half][e] % (kPairPart / kPairGroup));
    };
    const uint8_t *const low = group(0), *const high = group(1);
    Vector b[vectors];
    unroll<vectors>([&](auto v) OCTET_INLINE { b[v] = weights_of<form>(rhs, v, false); });
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<vectors>([&](auto v) OCTET_INLINE {
        const Vector quads = broadcast_extra<v>(low + i * kRow, high + i * kRow);
        add_pairs(acc[i][v], OCTET_MM(maddubs_epi16)(quads, b[v]));
      });
    });
  }
}

// Multiplies a plain part, with both operands widened here.
template <Form form, int rows, int vectors>
OCTET_INLINE inline void add_plain(const Lhs<rows>& lhs, const uint8_t* rhs, size_t groups,
                                   Vector (&acc)[rows][vectors]) {
  const uint8_t* a = lhs.bytes[0];
  OCTET_NO_UNROLL
  for (; groups; --groups, a += kPairGroup, rhs += kPairGroupBytes) {
    unroll<2>([&](auto odd) OCTET_INLINE {
      Vector b[vectors];
      unroll<vectors>([&](auto v) OCTET_INLINE {
        const Vector bytes = weights_of<form>(rhs, v, false);
        b[v] = OCTET_MM(srai_epi16)(odd ? bytes : OCTET_MM(slli_epi16)(bytes, 8), 8);
      });
      unroll<rows>([&](auto i) OCTET_INLINE {
        const Vector quad = broadcast(a + i * kRow),
                     int16 =
                         odd ? OCTET_MM(srli_epi16)(quad, 8) : quad & OCTET_MM(set1_epi16)(0xff);
        unroll<vectors>(
            [&](auto v) OCTET_INLINE { accumulate(acc[i][v], OCTET_MM(madd_epi16)(int16, b[v])); });
      });
    });
  }
}

// half: a tile of kAll has columns of the panel's first half only; plain parts are few, and the
// whole panel multiplies them. ahead: null where all rows are in order.
template <Form form, int rows, int vectors>
OCTET_INLINE inline void add_part(Lhs<rows>& lhs, Ahead<rows>* ahead, const uint8_t* rhs,
                                  const uint8_t* extras, const PairTable& table,
                                  const PairPart& part, bool half, Vector (&acc)[rows][vectors]) {
  if (table.extras == kPlainPart) return add_plain<form>(lhs, rhs, part.groups, acc);
  if (half)
    add_groups<Form::kHalf>(lhs.bytes[0], rhs, part.groups, acc);
  else if (ahead)
    ahead->add(lhs.bytes[0], rhs, acc);
  else
    add_groups<form>(lhs.bytes[0], rhs, part.groups, acc);
  // Keeps a damaged blob from reading beyond its own weights
  const size_t count = table.extras < part.room ? table.extras : part.room;
  if (!count) return;
  half ? add_extras<Form::kHalf>(lhs, extras, table, count, acc)
       : add_extras<form>(lhs, extras, table, count, acc);
}

// Multiplies the rows by a panel. start() initializes the accumulators once the first part of the
// rows, or a vector of it, is in order; meanwhile: the others while that is multiplied.
template <Form form, bool meanwhile, int rows, int vectors, typename Start>
OCTET_INLINE inline void multiply_panel(const Tile& t, const uint8_t* rhs, bool half,
                                        Vector (&acc)[rows][vectors], const Start& start) {
  Lhs<rows> lhs;
  const uint8_t* from[rows];
  unroll<rows>([&](auto i) OCTET_INLINE {
    from[i] = t.lhs_rows ? t.lhs_rows[i] : (const uint8_t*)t.lhs + i * t.lhs_stride;
  });
  bool first = true;
  for (size_t tap = 1;; ++tap) {
    const uint8_t* tables = rhs + pair_groups(t.depth) * kPairGroupBytes;
    size_t k = 0;
    do {
      const size_t steps = t.depth - k < kPairPart ? t.depth - k : kPairPart;
      const PairPart part(steps);
      const auto at = [=](size_t groups) { return tables + groups * kPairGroupBytes; };
      const uint8_t* const order = at(part.order());
      const PairTable& table = *(const PairTable*)at(part.table());
      const bool copies_ahead =
          meanwhile && !half && steps % kPairGroup == 0 && table.extras != kPlainPart;
      Ahead<rows> ahead = {from, order, k, steps, t.lhs_flip != 0};
      if (copies_ahead)
        ahead.begin(lhs.bytes[0]);
      else if constexpr (rows >= kMr)
        arrange_all<rows>(from, k, steps, order, t.lhs_flip, lhs.bytes[0]);
      else
        arrange_few(from, rows, k, steps, order, t.lhs_flip, lhs.bytes[0]);
      if (first) start();
      first = false;
      add_part<form>(lhs, copies_ahead ? &ahead : nullptr, rhs, at(part.extras()), table, part,
                     half, acc);
      rhs += part.groups * kPairGroupBytes;
      tables += part.tables() * kPairGroupBytes;
      k += steps;
    } while (k < t.depth);
    rhs = tables;
    if (tap == t.taps) return;
    unroll<rows>([&](auto i) OCTET_INLINE {
      from[i] = t.lhs_rows ? t.lhs_rows[tap * rows + i] : from[i] + t.tap_steps[tap - 1];
    });
  }
}

template <int rows>
void multiply(const Tile& t) {
  [[maybe_unused]] alignas(64) int32_t sums[kStoresTogether ? rows : 1][kNr];
  Tile panel = t;  // the tile of one panel: its columns and dst
  unroll<rows>([&](auto i) OCTET_INLINE {
    // See avx512vnni_u8s8_6x64x4.cc
    _mm_prefetch((const char*)t.dst + i * t.dst_stride, _MM_HINT_T0);
  });
  const uint8_t* rhs = t.rhs;
  OCTET_NO_UNROLL
  for (size_t column = 0; column < t.cols; column += kPairColumns, rhs += t.rhs_panel_stride) {
    Vector acc[rows][kVectors];
    const bool half = kVectors == 2 && t.cols - column <= kPairColumns / 2;
    multiply_panel<Form::kAll, kVectors == 2 && rows >= 3>(t, rhs, half, acc, [&]() OCTET_INLINE {
      unroll<rows>([&](auto i) OCTET_INLINE {
        unroll<kVectors>([&](auto v) OCTET_INLINE {
          acc[i][v] = load(t.init + i * t.init_stride + column + kLanes * v);
          if (t.row_init)
            acc[i][v] = OCTET_MM(add_epi32)(acc[i][v], OCTET_MM(set1_epi32)(t.row_init[i]));
        });
      });
    });
    if constexpr (kStoresTogether) {
      unroll<rows>([&](auto i) OCTET_INLINE {
        unroll<kVectors>([&](auto v)
                             OCTET_INLINE { store(&sums[i][column + kLanes * v], acc[i][v]); });
      });
    } else {
      panel.cols = t.cols - column < kPairColumns ? t.cols - column : kPairColumns;
      const bool bytes = t.scale && !t.requantization->to_floats;
      panel.dst = (uint8_t*)t.dst + (bytes ? column : column * sizeof(int32_t));
      if (t.scale) panel.scale = t.scale + column;
      leave(panel, acc);
    }
  }
  if constexpr (kStoresTogether) leave_sums(t, sums[0]);
}

void dispatch(const Tile& t) {
  static constexpr MultiplyFn kByRows[kMr] = {multiply<1>, multiply<2>, multiply<3>,
                                              multiply<4>, multiply<5>, multiply<6>};
  kByRows[t.rows - 1](t);
}

constexpr MicroKernel paired_kernel(const char* name, TierId tier_id,
                                    MultiplyFn multiply_micro_panel = nullptr,
                                    AddTapFn add_tap = nullptr) {
  MicroKernel kernel = {
      .name = name,
      .tier_id = tier_id,
      .lhs_element_type = ElementType::kU8,
      .mr = kMr,
      .nr = kNr,
      .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit,
      .rhs_layout = kX86PairedLayout,
      .lhs_kr = 4,
      .multiply = dispatch,
      .multiply_micro_panel = multiply_micro_panel,
      .add_tap = add_tap,
  };
  if (multiply_micro_panel) kernel.micro_panel = {4, kPairPart, 1, kNr, true};
  return kernel;
}

}  // namespace
}  // namespace octet
