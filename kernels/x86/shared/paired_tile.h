// SPDX-License-Identifier: Apache-2.0
// u8 x s8 -> s32 or 8 bits, VPMADDUBSW on ymm or zmm, up to 6 rows x 64 columns. Exact for all
// inputs on paired weights (kernels/core/paired_weights.h).
//
// The kernel copies the rows of a tile part by part, up to 512 steps, each window of 64 in the
// order of its weights; then it multiplies them by each of up to four panels of 16 columns:
//
//                      columns 0-7   8-15
//                     +------------+--------+      ymm: 12 accumulators, 2 for rhs, 1 for lhs,
//   row i, 4 bytes    | acc[i][0]  |  [1]   |      1 product: 16 registers of 16
//   broadcast         +------------+--------+      zmm: one vector of columns, 9 registers
//
// Per group of 4 along depth and vector of columns: 6 broadcasts, a load of weights, 6 times
// VPMADDUBSW, VPMADDWD by ones and VPADDD. A chunk of extras adds four products in 16 bits before
// it widens them. Between parts, sums are in memory. The instructions executed do not depend on the
// lhs.
//
// One text for both vectors. The including file defines kStoresTogether; if it is false leave(tile,
// acc), which stores a tile of one panel from registers, else leave_sums(tile, sums), which stores
// all panels from memory.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/shared/accumulate.h"
#include "kernels/x86/shared/layouts.h"
#include "kernels/x86/shared/tail.h"
#include "kernels/x86/shared/vector.h"

namespace octet {
namespace {

constexpr int kMr = 6, kPanels = kPairBlock / kPairColumns;
constexpr int kBytes = sizeof(Vector), kLanes = kBytes / 4;
constexpr int kVectors = kPairColumns / kLanes;  // of a panel

// Broadcasts a group of a row.
OCTET_INLINE inline Vector broadcast(const uint8_t* bytes) {
  int32_t quad;
  __builtin_memcpy(&quad, bytes, sizeof quad);
  return OCTET_MM(set1_epi32)(quad);
}

// Assembly, because GCC 12 would keep the ones in a register that the tile needs.
OCTET_INLINE inline void add_pairs(Vector& acc, Vector int16) {
  __asm__("vpmaddwd %1, %0, %0" : "+v"(int16) : "m"(*(const Vector*)kOnes));
  accumulate(acc, int16);
}

// ---- the lhs ------------------------------------------------------------------------------------

// One part of a tile's rows.
template <int rows>
struct Lhs {
  alignas(64) uint8_t bytes[rows][kPairPart];
};

// Loads 16 bytes of a row, of which `left` exist.
OCTET_INLINE inline __m128i load_some(const uint8_t* bytes, size_t left) {
  if (left >= 16) return _mm_loadu_si128((const __m128i*)bytes);
  return left ? tail(bytes, left, 0) : _mm_setzero_si128();
}

// 16 bytes in each 128 bits.
OCTET_INLINE inline Vector repeat(__m128i bytes) {
#if defined(__AVX512BW__)
  return _mm512_broadcast_i32x4(bytes);
#else
  return _mm256_broadcastsi128_si256(bytes);
#endif
}

// Reorders a window of each row. Each of four VPSHUFB takes the bytes of 16 steps; the places of
// other steps have the top bit set. Places without a step meet zero weights.
OCTET_INLINE inline void arrange(const uint8_t* const* from, size_t rows, size_t at, size_t steps,
                                 const uint8_t* order, uint32_t flip, uint8_t* to) {
  constexpr int kParts = kPairWindow / kBytes;
  Vector choice[kParts][4];
  unroll<kParts>([&](auto part) OCTET_INLINE {
    const Vector places = load(order + kBytes * part);
    unroll<4>([&](auto quarter) OCTET_INLINE {
      choice[part][quarter] = OCTET_MM(adds_epu8)(places ^ OCTET_MM(set1_epi8)(16 * quarter),
                                                  OCTET_MM(set1_epi8)(0x70));
    });
  });
  const Vector flips = OCTET_MM(set1_epi32)((int)flip);
  const auto row = [&](const __m128i(&quarters)[4], uint8_t* out) OCTET_INLINE {
    Vector x[4];
    unroll<4>([&](auto q) OCTET_INLINE { x[q] = repeat(quarters[q]); });
    unroll<kParts>([&](auto part) OCTET_INLINE {
      const auto chosen = [&](auto q) OCTET_INLINE {
        return OCTET_MM(shuffle_epi8)(x[q], choice[part][q]);
      };
      const Vector low = chosen(Int<0>{}) | chosen(Int<1>{}),
                   high = chosen(Int<2>{}) | chosen(Int<3>{});
      store(out + kBytes * part, (low | high) ^ flips);
    });
  };
  if (steps >= kPairWindow) {
    OCTET_NO_UNROLL
    for (size_t i = 0; i < rows; ++i) {
      const __m128i* const bytes = (const __m128i*)(from[i] + at);
      const __m128i quarters[4] = {_mm_loadu_si128(bytes), _mm_loadu_si128(bytes + 1),
                                   _mm_loadu_si128(bytes + 2), _mm_loadu_si128(bytes + 3)};
      row(quarters, to + i * kPairPart);
    }
    return;
  }
  OCTET_NO_UNROLL
  for (size_t i = 0; i < rows; ++i) {
    __m128i quarters[4];
    unroll<4>([&](auto q) OCTET_INLINE {
      constexpr size_t skipped = 16 * q;
      quarters[q] = load_some(from[i] + at + skipped, steps > skipped ? steps - skipped : 0);
    });
    row(quarters, to + i * kPairPart);
  }
}

// The same in one function for all counts of rows: tiles of many rows do without a call.
__attribute__((noinline)) void arrange_few(const uint8_t* const* from, size_t rows, size_t at,
                                           size_t steps, const uint8_t* order, uint32_t flip,
                                           uint8_t* to) {
  arrange(from, rows, at, steps, order, flip, to);
}

// ---- a panel ------------------------------------------------------------------------------------

template <int vectors, int rows>
OCTET_INLINE inline void add_groups(const Lhs<rows>& lhs, const uint8_t* rhs, size_t groups,
                                    Vector (&acc)[rows][kVectors]) {
  const uint8_t* a = lhs.bytes[0];
  OCTET_NO_UNROLL
  for (; groups; --groups, a += kPairGroup, rhs += kPairGroupBytes) {
    // Only where a panel has two vectors, on ymm: on zmm the prefetch saves 4 % of the time with a
    // depth of 1024 and costs 4 % with 256 (Cascade Lake, 2026-11-28). The weights of
    // a product of one row come from memory 1.3 times as fast by the hardware's prefetchers alone
    // (Zen 4, 2026-11-28).
    if (vectors == 2 && rows > 1) _mm_prefetch((const char*)rhs + kWeightsAhead, _MM_HINT_T0);
    Vector b[vectors];
    unroll<vectors>([&](auto v) OCTET_INLINE { b[v] = load(rhs + kBytes * v); });
    unroll<rows>([&](auto i) OCTET_INLINE {
      const Vector quad = broadcast(a + i * kPairPart);
      unroll<vectors>(
          [&](auto v) OCTET_INLINE { add_pairs(acc[i][v], OCTET_MM(maddubs_epi16)(quad, b[v])); });
    });
  }
}

template <int vectors, int rows>
OCTET_INLINE inline void add_extras(const Lhs<rows>& lhs, const uint8_t* rhs,
                                    const PairTable& table, size_t chunks,
                                    Vector (&acc)[rows][kVectors]) {
  const uint8_t* groups = table.groups;
  OCTET_NO_UNROLL
  for (; chunks; --chunks, groups += kPairChunk, rhs += kPairChunk * kPairGroupBytes) {
    const uint8_t* at[kPairChunk];
    // Keeps a damaged blob's group number within the part
    unroll<kPairChunk>([&](auto e) OCTET_INLINE {
      at[e] = lhs.bytes[0] + kPairGroup * (groups[e] % (kPairPart / kPairGroup));
    });
    unroll<rows>([&](auto i) OCTET_INLINE {
      Vector int16[vectors];
      unroll<kPairChunk>([&](auto e) OCTET_INLINE {
        const Vector quad = broadcast(at[e] + i * kPairPart);
        unroll<vectors>([&](auto v) OCTET_INLINE {
          const Vector product =
              OCTET_MM(maddubs_epi16)(quad, load(rhs + kPairGroupBytes * e + kBytes * v));
          if (e)
            accumulate_int16(int16[v], product);
          else
            int16[v] = product;
        });
      });
      unroll<vectors>([&](auto v) OCTET_INLINE { add_pairs(acc[i][v], int16[v]); });
    });
  }
}

// Multiplies a plain part of a whole panel, with both operands widened here.
template <int rows>
OCTET_INLINE inline void add_plain(const Lhs<rows>& lhs, const uint8_t* rhs, size_t groups,
                                   Vector (&acc)[rows][kVectors]) {
  const uint8_t* a = lhs.bytes[0];
  OCTET_NO_UNROLL
  for (; groups; --groups, a += kPairGroup, rhs += kPairGroupBytes) {
    unroll<2>([&](auto odd) OCTET_INLINE {
      Vector b[kVectors];
      unroll<kVectors>([&](auto v) OCTET_INLINE {
        const Vector bytes = load(rhs + kBytes * v);
        b[v] = OCTET_MM(srai_epi16)(odd ? bytes : OCTET_MM(slli_epi16)(bytes, 8), 8);
      });
      unroll<rows>([&](auto i) OCTET_INLINE {
        const Vector quad = broadcast(a + i * kPairPart),
                     int16 =
                         odd ? OCTET_MM(srli_epi16)(quad, 8) : quad & OCTET_MM(set1_epi16)(0xff);
        unroll<kVectors>(
            [&](auto v) OCTET_INLINE { accumulate(acc[i][v], OCTET_MM(madd_epi16)(int16, b[v])); });
      });
    });
  }
}

// half: the tile has columns of the panel's first half only. Plain parts are few, and the whole
// panel multiplies them.
template <int rows>
OCTET_INLINE inline void add_part(const Lhs<rows>& lhs, const uint8_t* rhs, const uint8_t* tables,
                                  const PairPart& part, bool half, Vector (&acc)[rows][kVectors]) {
  const PairTable& table = *(const PairTable*)(tables + part.table() * kPairGroupBytes);
  if (table.chunks == kPlainPart) return add_plain(lhs, rhs, part.groups, acc);
  half ? add_groups<1>(lhs, rhs, part.groups, acc)
       : add_groups<kVectors>(lhs, rhs, part.groups, acc);
  // Keeps a damaged blob from reading beyond its own weights
  const size_t room = part.room / kPairChunk, chunks = table.chunks < room ? table.chunks : room;
  if (!chunks) return;
  const uint8_t* const extras = tables + part.extras() * kPairGroupBytes;
  half ? add_extras<1>(lhs, extras, table, chunks, acc)
       : add_extras<kVectors>(lhs, extras, table, chunks, acc);
}

template <int rows>
void multiply(const Tile& t) {
  Lhs<rows> lhs;
  alignas(64) int32_t sums[rows][kPairBlock];
  // The tile of one panel: its columns and dst
  Tile panel = t;
  const uint8_t* from[rows];
  unroll<rows>([&](auto i) OCTET_INLINE {
    from[i] = t.lhs_rows ? t.lhs_rows[i] : (const uint8_t*)t.lhs + i * t.lhs_stride;
    // See avx512vnni_u8s8_6x64x4.cc
    _mm_prefetch((const char*)t.dst + i * t.dst_stride, _MM_HINT_T0);
  });
  const uint8_t* rhs = t.rhs;
  bool first = true;
  for (size_t tap = 1;; ++tap) {
    const uint8_t* tables = rhs + pair_groups(t.depth) * kPairGroupBytes;
    for (size_t k = 0, steps; k < t.depth; k += steps) {
      steps = t.depth - k < kPairPart ? t.depth - k : kPairPart;
      const PairPart part(steps);
      for (size_t w = 0; w < part.windows; ++w)
        (kVectors == 1 || rows < kMr - 1 ? arrange_few : arrange)(
            from, rows, k + w * kPairWindow, steps - w * kPairWindow,
            tables + (part.order() + w) * kPairGroupBytes, t.lhs_flip,
            lhs.bytes[0] + w * kPairWindow);
      const bool last = tap == t.taps && k + steps == t.depth;
      OCTET_NO_UNROLL
      for (size_t p = 0, column = 0; column < t.cols; ++p, column += kPairColumns) {
        Vector acc[rows][kVectors];
        unroll<rows>([&](auto i) OCTET_INLINE {
          unroll<kVectors>([&](auto v) OCTET_INLINE {
            acc[i][v] = load((first ? t.init + i * t.init_stride : sums[i]) + column + kLanes * v);
            if (first && t.row_init)
              acc[i][v] = OCTET_MM(add_epi32)(acc[i][v], OCTET_MM(set1_epi32)(t.row_init[i]));
          });
        });
        const size_t panel_at = p * t.rhs_panel_stride;
        add_part(lhs, rhs + panel_at, tables + panel_at, part,
                 kVectors == 2 && t.cols - column <= kPairColumns / 2, acc);
        if constexpr (!kStoresTogether) {
          if (last) {
            panel.cols = t.cols - column < kPairColumns ? t.cols - column : kPairColumns;
            const bool bytes = t.scale && !t.requantization->to_floats;
            panel.dst = (uint8_t*)t.dst + (bytes ? column : column * sizeof(int32_t));
            if (t.scale) panel.scale = t.scale + column;
            leave(panel, acc);
            continue;
          }
        }
        unroll<rows>([&](auto i) OCTET_INLINE {
          unroll<kVectors>([&](auto v)
                               OCTET_INLINE { store(&sums[i][column + kLanes * v], acc[i][v]); });
        });
      }
      if constexpr (kStoresTogether)
        if (last) leave_sums(t, sums[0]);
      first = false;
      rhs += part.groups * kPairGroupBytes;
      tables += part.tables() * kPairGroupBytes;
    }
    rhs = tables;
    if (tap == t.taps) return;
    unroll<rows>([&](auto i) OCTET_INLINE {
      from[i] = t.lhs_rows ? t.lhs_rows[tap * rows + i] : from[i] + t.tap_steps[tap - 1];
    });
  }
}

void dispatch(const Tile& t) {
  static constexpr MultiplyFn kByRows[kMr] = {multiply<1>, multiply<2>, multiply<3>,
                                              multiply<4>, multiply<5>, multiply<6>};
  kByRows[t.rows - 1](t);
}

constexpr MicroKernel paired_kernel(const char* name, TierId tier_id) {
  return {
      .name = name,
      .tier_id = tier_id,
      .lhs_element_type = ElementType::kU8,
      .mr = kMr,
      .nr = kPairBlock,
      .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit,
      .rhs_layout = kX86PairedLayout,
      .lhs_kr = 4,
      .multiply = dispatch,
  };
}

}  // namespace
}  // namespace octet
