// SPDX-License-Identifier: Apache-2.0
// Multiplies s8 rows by weights of 4 bits in scale blocks (kernels/core/scale_blocks.h), one text
// for the vector of every x86 tier.
//
// Weights are the unsigned operand of VPDPBUSD or VPMADDUBSW, as they are stored, and the rows the
// signed one, so that neither is changed on its way; zero points are in the init of the sums, or,
// where each block has its own, in one product of pairs more. Per block, accumulators begin at the
// init and get all products; as floats they are scaled and added to the sums.
//
//              | products of 4 depth steps         | rows x columns | sums of so many rows
// AVX512-VNNI  | VPDPBUSD                          | 8 x 32         | registers and memory
// AVX-VNNI     | VPDPBUSD                          | 6 x 16         | memory
// AVX2, SSE4.1 | VPMADDUBSW, VPADDW; per 32 steps, | 4 x 16, 2 x 16 | memory
//              | VPMADDWD by ones: |sum| <= 30,720 |                |
//
// Weights of 8 bits are multiplied as they are stored, 128 more than they stand for: a pair of each
// column takes that away. VPMADDUBSW takes their low halves and their high halves apart.
//
// Few rows decode weights in registers. For more, a part of the depth is decoded once for all rows
// of the tile, into the L1 cache, and multiplied by each of them before the next part.
//
// On AVX512-VNNI accumulators begin at the bits of the float kMagic, so that, as |acc| < 2^22, they
// are those of kMagic + acc. A scale of f16 times kMagic is exact; hence
//
//   float(acc) * scale = FMA(kMagic + acc, scale, -(kMagic * scale)), the same rounding of the same
//
// number in one instruction (that of 0 may differ in its sign, which no sum shows): 16 accumulators
// of a block of 32 take 128 VPDPBUSD, 16 FMA and 16 sums.
#pragma once

#include "kernels/core/scale_blocks.h"
#include "kernels/generic/epilogue.h"
#include "kernels/generic/scale_blocks.h"
#include "kernels/x86/scale_blocks/operands.h"

namespace octet {
namespace {

// acc += weights * a.
OCTET_INLINE inline void add_product(Vector weights, Vector a, Vector& acc) {
#if defined(__AVX512VNNI__)
  acc = _mm512_dpbusd_epi32(acc, weights, a);
#elif defined(__AVXVNNI__)
  acc = _mm256_dpbusd_avx_epi32(acc, weights, a);
#else
  acc = OCTET_MM(add_epi16)(acc, OCTET_MM(maddubs_epi16)(weights, a));
#endif
  pin(acc);
}

// Adds the products of `steps` times 8 depth steps.
template <int rows>
OCTET_INLINE inline void add_products(Rows<rows, const uint8_t>& lhs, size_t steps, size_t ahead,
                                      Panels& panels, Vector (&acc)[rows][kVectors]) {
  const Vector low = OCTET_MM(set1_epi8)(15);
  // A block has an even number of steps
  OCTET_NO_UNROLL
  for (; steps; steps -= 2)
    unroll<2>([&](auto) OCTET_INLINE {
      unroll<kPanels>([&](auto p) OCTET_INLINE {
        _mm_prefetch((const char*)panels.at[p] + ahead, _MM_HINT_T0);
      });
      Vector two[kVectors];
      unroll<kVectors>([&](auto v) OCTET_INLINE {
        two[v] = load(panels.template of<v>());
        if (kLanes == 16) pin(two[v]);  // GCC 12 would load it twice, and broadcasts load enough
      });
      unroll<2>([&](auto half) OCTET_INLINE {
        Vector weights[kVectors];
        unroll<kVectors>([&](auto v) OCTET_INLINE { weights[v] = nibbles<half>(two[v], low); });
        unroll<rows>([&](auto i) OCTET_INLINE {
          const Vector a = OCTET_MM(set1_epi32)(load_quad(lhs[i] + 4 * half));
          unroll<kVectors>([&](auto v) OCTET_INLINE { add_product(weights[v], a, acc[i][v]); });
        });
      });
      unroll<kPanels>([&](auto p) OCTET_INLINE { panels.at[p] += kStep; });
      lhs.skip(8);
    });
}

// Of so many rows, those that keep their sums in registers, beside the accumulators: with more, GCC
// 12 spills. See multiply_rows().
constexpr int kept_rows(int rows, bool fused, bool decoded) {
  if (kLanes == 16) return rows < 8 ? rows : fused ? (decoded ? 6 : 3) : decoded ? 3 : 1;
  return rows * kVectors <= 4 ? rows : 0;
}

// The pairs of block b's columns that init_of_row()'s are multiplied by.
OCTET_INLINE inline void load_pairs(const ScaleBlockTile& t, const Panels& panels, size_t b,
                                    Vector (&pairs)[kVectors]) {
  const ScaleBlocks& blocks = t.blocks;
  const Vector depth = OCTET_MM(set1_epi32)((int)blocks.depth), low = OCTET_MM(set1_epi32)(0xffff);
  const int32_t stored_more = blocks.bytes ? 128 : 0;  // than weights stand for; not in the sums
  unroll<kVectors>([&](auto v) OCTET_INLINE {
    constexpr int kPanel = v / kOfPanel, kLane = v % kOfPanel * kLanes;
    Vector z = OCTET_MM(set1_epi32)(blocks.zero_point), sums = z - z;
    if (blocks.zero_points)
      z = OCTET_MM(add_epi32)(
          z, load_bytes(panels.at[kPanel] + blocks.weight_bytes() + blocks.scale_bytes(), kLane));
    if (t.lhs_zero_points) {
      const size_t panel = smaller(kPanel, t.panels - 1);
      sums = OCTET_MM(sub_epi32)(
          OCTET_MM(madd_epi16)(z, depth),
          load_shorts(t.column_sums + (panel * blocks.count + b) * kScaleBlockColumns + kLane));
    }
    z = OCTET_MM(add_epi32)(z, OCTET_MM(set1_epi32)(stored_more));
    pairs[v] = (((Vector)OCTET_MM(sub_epi32)(sums - sums, z)) & low) |
               (Vector)OCTET_MM(slli_epi32)(sums, 16);
  });
}
OCTET_INLINE inline Vector add_pairs(Vector acc, Vector pairs, Vector of_row) {
#if defined(__AVX512VNNI__)
  return _mm512_dpwssd_epi32(acc, pairs, of_row);
#elif defined(__AVXVNNI__)
  return _mm256_dpwssd_avx_epi32(acc, pairs, of_row);
#else
  return OCTET_MM(add_epi32)(acc, OCTET_MM(madd_epi16)(pairs, of_row));
#endif
}

OCTET_INLINE inline Floats float_of(Vector acc) {
#if defined(__AVX512BW__)
  return _mm512_sub_ps(_mm512_castsi512_ps(acc), _mm512_set1_ps(kMagic));
#else
  return OCTET_MM(cvtepi32_ps)(acc);
#endif
}
// minus: -kMagic * scale. Without kMagic no product is fused.
OCTET_INLINE inline Floats fused_product(Vector acc, Floats scale, Floats minus) {
#if defined(__AVX512BW__)
  return _mm512_fmadd_ps(_mm512_castsi512_ps(acc), scale, minus);
#else
  return (void)minus, OCTET_MM(mul_ps)(float_of(acc), scale);
#endif
}

// How weights lie in memory.
enum class Stored { kNibbles, kDecoded, kBytes };

inline bool has_zeros(const ScaleBlockTile& t) { return t.blocks.zero_points || t.lhs_zero_points; }

// A block whose weights are bytes, made once for many rows.
struct Decoded {
  Floats scale[kVectors], minus[kVectors];
  Vector pairs[kVectors];
};
constexpr size_t decoded_bytes(size_t depth) { return sizeof(Decoded) + kNr * depth; }
// Blocks that are decoded at a time.
constexpr size_t decoded_blocks(size_t depth) { return 512 / depth; }
constexpr size_t kDecodedRoom = decoded_blocks(kLeastScaleBlock) * decoded_bytes(kLeastScaleBlock);
static_assert(decoded_blocks(kMostScaleBlock) > 0, "a block is decoded at a time");

// Adds the products of `groups` times 4 depth steps of decoded weights.
template <int rows>
OCTET_INLINE inline void add_decoded(Rows<rows, const uint8_t>& lhs, size_t groups,
                                     const uint8_t*& weights, Vector (&acc)[rows][kVectors]) {
  OCTET_NO_UNROLL
  for (; groups; groups -= 4) {
    unroll<4>([&](auto g) OCTET_INLINE {
      Vector w[kVectors];
      unroll<kVectors>([&](auto v) OCTET_INLINE {
        w[v] = load(weights + (g * kVectors + v) * sizeof(Vector));
        if (kLanes == 16) pin(w[v]);
      });
      unroll<rows>([&](auto i) OCTET_INLINE {
        const Vector a = OCTET_MM(set1_epi32)(load_quad(lhs[i] + 4 * g));
        unroll<kVectors>([&](auto v) OCTET_INLINE { add_product(w[v], a, acc[i][v]); });
      });
    });
    weights += 4 * kVectors * sizeof(Vector);
    lhs.skip(16);
  }
}

// Adds the products of `groups` times 4 depth steps of weights of 8 bits: sums of all bits, or of
// the low halves, and `high` of the others.
template <int rows>
OCTET_INLINE inline void add_bytes(Rows<rows, const uint8_t>& lhs, size_t groups, size_t ahead,
                                   Panels& panels, Vector (&acc)[rows][kVectors],
                                   Vector (&high)[rows][kVectors]) {
  const Vector low = OCTET_MM(set1_epi8)(15);
  OCTET_NO_UNROLL
  for (; groups; groups -= 2) {
    unroll<2>([&](auto g) OCTET_INLINE {
      Vector w[kVectors];
      unroll<kPanels>([&](auto p) OCTET_INLINE {
        _mm_prefetch((const char*)panels.at[p] + ahead, _MM_HINT_T0);
      });
      unroll<kVectors>([&](auto v) OCTET_INLINE {
        w[v] = load(panels.template of<v>());
        if (kLanes == 16) pin(w[v]);
      });
      unroll<rows>([&](auto i) OCTET_INLINE {
        const Vector a = OCTET_MM(set1_epi32)(load_quad(lhs[i] + 4 * g));
        unroll<kVectors>([&](auto v) OCTET_INLINE {
          add_product(kDotProducts ? w[v] : nibbles<0>(w[v], low), a, acc[i][v]);
          if constexpr (!kDotProducts) add_product(nibbles<1>(w[v], low), a, high[i][v]);
        });
      });
      unroll<kPanels>([&](auto p) OCTET_INLINE { panels.at[p] += kStep; });
    });
    lhs.skip(8);
  }
}

// The products of a block, from its init on.
template <int rows, Stored stored>
OCTET_INLINE inline void add_block(Rows<rows, const uint8_t>& lhs, size_t depth, size_t ahead,
                                   Panels& panels, const uint8_t*& weights,
                                   Vector (&acc)[rows][kVectors]) {
  const auto add = [&](size_t steps, Vector(&to)[rows][kVectors], Vector(&high)[rows][kVectors])
                       OCTET_INLINE {
                         if constexpr (stored == Stored::kBytes)
                           add_bytes<rows>(lhs, 2 * steps, ahead, panels, to, high);
                         else if constexpr (stored == Stored::kDecoded)
                           add_decoded<rows>(lhs, 2 * steps, weights, to);
                         else
                           add_products<rows>(lhs, steps, ahead, panels, to);
                       };
  if constexpr (kDotProducts) {
    add(depth / 8, acc, acc);
  } else {
    constexpr size_t kChunk = 4;
    OCTET_NO_UNROLL
    for (size_t steps = depth / 8, some; steps; steps -= some) {
      some = steps < kChunk ? steps : kChunk;
      Vector sum[rows][kVectors] = {}, high[rows][kVectors] = {};
      add(some, sum, high);
      unroll<rows>([&](auto i) OCTET_INLINE {
        unroll<kVectors>([&](auto v) OCTET_INLINE {
          acc[i][v] = OCTET_MM(add_epi32)(acc[i][v],
                                          OCTET_MM(madd_epi16)(sum[i][v], OCTET_MM(set1_epi16)(1)));
          if (stored == Stored::kBytes)
            acc[i][v] = OCTET_MM(add_epi32)(
                acc[i][v], OCTET_MM(madd_epi16)(high[i][v], OCTET_MM(set1_epi16)(16)));
        });
      });
    }
  }
}

// Accumulators without a product. pairs: with zeros.
template <int rows, bool zeros>
OCTET_INLINE inline void start_block(const Rows<rows, const int32_t>& init,
                                     const Vector (&pairs)[kVectors],
                                     Vector (&acc)[rows][kVectors]) {
  unroll<rows>([&](auto i) OCTET_INLINE {
    const Vector of_row = OCTET_MM(set1_epi32)(*init[i]);
    unroll<kVectors>([&](auto v) OCTET_INLINE {
      acc[i][v] = zeros ? add_pairs(OCTET_MM(set1_epi32)(kBias), pairs[v], of_row) : of_row;
      if (zeros) pin(acc[i][v]);
    });
  });
}

OCTET_INLINE inline void read_scales(const Panels& panels, bool f16, bool fused,
                                     Floats (&scale)[kVectors], Floats (&minus)[kVectors]) {
  unroll<kVectors>([&](auto v) OCTET_INLINE {
    scale[v] = load_scales(panels.at[v / kOfPanel], f16, v % kOfPanel * kLanes);
    if (fused) minus[v] = OCTET_MM(mul_ps)(scale[v], OCTET_MM(set1_ps)(-kMagic));
  });
}

// Adds the products of blocks b0 to b1 - 1 to the sums. zeros: there may be zero points of blocks
// or of the lhs. fused: scales are f16, and rows have none. An instance has no branches in its
// rows. Decoded ones are of decode_blocks(), of others `panels` are read.
template <int rows, bool zeros, bool fused, Stored stored,
          bool decoded = stored == Stored::kDecoded>
void multiply_rows(const ScaleBlockTile& t, size_t row, size_t b0, size_t b1) {
  constexpr int kKept = kept_rows(rows, fused, decoded);
  const ScaleBlocks blocks = t.blocks;
  const bool f16 = fused || blocks.f16;
  const size_t tail = blocks.block_bytes() - blocks.weight_bytes();
  const float* const row_scales = t.row_scales;
  const float one = 1;
  Rows<rows, const uint8_t> lhs(t.lhs + row * t.lhs_stride + b0 * blocks.depth, t.lhs_stride);
  Floats kept[rows][kVectors];
  float* sums = t.sums + row * kNr;
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<kVectors>([&](auto v) OCTET_INLINE {
      float* const at = sums + kNr * i + kLanes * v;
      kept[i][v] = decoded && b0 ? load_floats(at) : OCTET_MM(setzero_ps)();
      if (i >= kKept) OCTET_MM(storeu_ps)(at, kept[i][v]);
    });
  });
  Panels panels(t);
  const uint8_t* weights = t.room;
  // Behind the end of a panel are the panels that are read beside it, and then the next panels
  const size_t near_end = blocks.count - smaller(blocks.count, kAhead / blocks.block_bytes()),
               skip = (kPanels - 1) * blocks.panel_bytes();
  OCTET_NO_UNROLL
  for (size_t b = b0; b < b1; ++b) {
    const size_t ahead = kAhead + (b < near_end ? 0 : skip);
    const size_t term = row * blocks.count + b;
    const Decoded* const made = (const Decoded*)weights;
    if (decoded) weights += sizeof *made;
    Vector acc[rows][kVectors], pairs[kVectors];
    if (zeros && decoded) unroll<kVectors>([&](auto v) OCTET_INLINE { pairs[v] = made->pairs[v]; });
    if (zeros && !decoded) load_pairs(t, panels, b, pairs);
    start_block<rows, zeros>(Rows<rows, const int32_t>(t.row_init + term, blocks.count), pairs,
                             acc);
    add_block<rows, stored>(lhs, blocks.depth, ahead, panels, weights, acc);
    Floats scale[kVectors], minus[kVectors];
    if constexpr (decoded) {
      unroll<kVectors>([&](auto v)
                           OCTET_INLINE { scale[v] = made->scale[v], minus[v] = made->minus[v]; });
    } else {
      unroll<kPanels>([&](auto p) OCTET_INLINE {
        _mm_prefetch((const char*)panels.at[p] + ahead, _MM_HINT_T0);
      });
      read_scales(panels, f16, fused, scale, minus);
    }
    if (kKept < rows)
      __asm__("" : "+r"(sums));  // else GCC 12 keeps sums on the stack until the end
    const auto add = [&](auto i, auto v, Floats product) OCTET_INLINE {
      float* const to = sums + kNr * i + kLanes * v;
      const Floats sum = OCTET_MM(add_ps)(i < kKept ? kept[i][v] : load_floats(to), product);
      if (i < kKept)
        kept[i][v] = sum;
      else
        OCTET_MM(storeu_ps)(to, sum);
    };
    if constexpr (fused) {
      unroll<rows>([&](auto i) OCTET_INLINE {
        unroll<kVectors>(
            [&](auto v) OCTET_INLINE { add(i, v, fused_product(acc[i][v], scale[v], minus[v])); });
      });
    } else {
      const Rows<rows, const float> scales(row_scales ? row_scales + term : &one,
                                           row_scales ? blocks.count : 0);
      unroll<rows>([&](auto i) OCTET_INLINE {
        const Floats of_row = OCTET_MM(set1_ps)(*scales[i]);
        unroll<kVectors>([&](auto v) OCTET_INLINE {
          Floats product =
              OCTET_MM(mul_ps)(float_of(acc[i][v]), OCTET_MM(mul_ps)(of_row, scale[v]));
          pin(product);
          add(i, v, product);
        });
      });
    }
    if (!decoded) unroll<kPanels>([&](auto p) OCTET_INLINE { panels.at[p] += tail; });
  }
  unroll<kKept>([&](auto i) OCTET_INLINE {
    unroll<kVectors>([&](auto v) OCTET_INLINE {
      OCTET_MM(storeu_ps)(sums + kNr * i + kLanes * v, kept[i][v]);
    });
  });
}

// Decodes block b into `to`, for rows that read it there.
template <bool zeros, bool fused>
OCTET_INLINE inline void decode_block(const ScaleBlockTile& t, size_t b, size_t ahead,
                                      Panels& panels, uint8_t* to) {
  const ScaleBlocks& blocks = t.blocks;
  const Vector low = OCTET_MM(set1_epi8)(15);
  Decoded* const made = (Decoded*)to;
  if (zeros) load_pairs(t, panels, b, made->pairs);
  to += sizeof *made;
  OCTET_NO_UNROLL
  for (size_t steps = blocks.depth / 8; steps; --steps) {
    unroll<kVectors>([&](auto v) OCTET_INLINE {
      const Vector two = load(panels.template of<v>());
      store(to + v * sizeof two, nibbles<0>(two, low));
      store(to + (kVectors + v) * sizeof two, nibbles<1>(two, low));
    });
    unroll<kPanels>([&](auto p) OCTET_INLINE {
      _mm_prefetch((const char*)panels.at[p] + ahead, _MM_HINT_T0);
      panels.at[p] += kStep;
    });
    to += 2 * kVectors * sizeof(Vector);
  }
  unroll<kPanels>(
      [&](auto p) OCTET_INLINE { _mm_prefetch((const char*)panels.at[p] + ahead, _MM_HINT_T0); });
  read_scales(panels, fused || blocks.f16, fused, made->scale, made->minus);
  unroll<kPanels>(
      [&](auto p) OCTET_INLINE { panels.at[p] += blocks.block_bytes() - blocks.weight_bytes(); });
}

// For rows whose number is a multiple of kMr: a part of the depth after the other is decoded.
template <bool zeros, bool fused>
void multiply_many(const ScaleBlockTile& t, size_t rows) {
  const ScaleBlocks blocks = t.blocks;
  const size_t near_end = blocks.count - smaller(blocks.count, kAhead / blocks.block_bytes()),
               skip = (kPanels - 1) * blocks.panel_bytes(), part = decoded_blocks(blocks.depth);
  Panels panels(t);
  for (size_t b0 = 0, b1; b0 < blocks.count; b0 = b1) {
    b1 = smaller(b0 + part, blocks.count);
    for (size_t b = b0; b < b1; ++b)
      decode_block<zeros, fused>(t, b, kAhead + (b < near_end ? 0 : skip), panels,
                                 t.room + (b - b0) * decoded_bytes(blocks.depth));
    for (size_t row = 0; row < rows; row += kMr)
      multiply_rows<kMr, zeros, fused, Stored::kDecoded>(t, row, b0, b1);
  }
}

template <bool zeros, bool fused>
void multiply_all(const ScaleBlockTile& t) {
  size_t row = 0;
  if (t.rows > kFew) {
    row = t.rows / kMr * kMr;
    multiply_many<zeros, fused>(t, row);
  }
  const auto take = [&](auto rows) OCTET_INLINE {
    for (; row + rows <= t.rows; row += rows)
      multiply_rows<rows, zeros, fused, Stored::kNibbles>(t, row, 0, t.blocks.count);
  };
  if constexpr (kLanes > 4) take(Int<kMr>{});
  if constexpr (kMr > 4) take(Int<4>{});
  if constexpr (kMr > 2) take(Int<2>{});
  take(Int<1>{});
}

// Of rows whose number their tile does not divide, the last ones are multiplied twice.
void multiply_all_bytes(const ScaleBlockTile& t) {
  const auto take = [&](auto rows) OCTET_INLINE {
    constexpr size_t kRows = rows;
    if (t.rows < kRows) return false;
    for (size_t row = 0; row < t.rows; row += kRows)
      multiply_rows<rows, true, false, Stored::kBytes>(t, smaller(row, t.rows - kRows), 0,
                                                       t.blocks.count);
    return true;
  };
  if (take(Int<kByteMr>{})) return;
  if constexpr (kByteMr > 2)
    if (take(Int<2>{})) return;
  take(Int<1>{});
}

void multiply_scale_blocks(const ScaleBlockTile& t) {
  constexpr bool kFuses = kLanes == 16;
  if (t.blocks.bytes)
    multiply_all_bytes(t);
  else if (has_zeros(t))
    multiply_all<true, false>(t);
  else if (kFuses && t.blocks.f16 && !t.row_scales)
    multiply_all<false, kFuses>(t);
  else
    multiply_all<false, false>(t);
}

constexpr ScaleBlockKernel scale_block_kernel(const char* name, TierId tier_id) {
  return make_scale_block_kernel(name, tier_id, kMr, kNr, multiply_scale_blocks, add_minimums,
                                 apply_epilogue<float>, kBias, true, kDecodedRoom);
}

}  // namespace
}  // namespace octet
