// Multiplies s8 rows by weights of 4 bits in scale blocks (kernels/core/scale_blocks.h), one text
// for the vector of every x86 tier.
//
// Weights are the unsigned operand of VPDPBUSD or VPMADDUBSW, as they are stored, and the rows the
// signed one, so that neither is changed on its way; zero points are in the init of the sums, or,
// where each block has its own, in one product of pairs more. Per block, accumulators begin at the
// init and get all products; as floats they are scaled and added to the sums.
//
//              | products of 4 depth steps         | rows x columns | sums of so many rows
// AVX512-VNNI  | VPDPBUSD                          | 12 x 32        | memory, L1 cache
// AVX-VNNI     | VPDPBUSD                          | 6 x 16         | memory
// AVX2, SSE4.1 | VPMADDUBSW, VPADDW; per 32 steps, | 4 x 16, 2 x 16 | memory
//              | VPMADDWD by ones: |sum| <= 30,720 |                |
//
// On AVX512-VNNI accumulators begin at the bits of the float kMagic, so that, as |acc| < 2^22, they
// are those of kMagic + acc. A scale of f16 times kMagic is exact; hence
//
//   float(acc) * scale = FMA(kMagic + acc, scale, -(kMagic * scale)), the same rounding of the same
//
// number in one instruction (that of 0 may differ in its sign, which no sum shows): 24 accumulators
// of a block of 32 take 192 VPDPBUSD, 24 instructions that decode weights, 24 FMA and 24 sums.
#pragma once

#include "kernels/core/scale_blocks.h"
#include "kernels/generic/epilogue.h"
#include "kernels/x86/shared/quads.h"
#include "kernels/x86/shared/vector.h"

namespace octet {
namespace {

#if defined(__AVX512BW__)
using Floats = __m512;
#elif defined(__AVX2__)
using Floats = __m256;
#else
using Floats = __m128;
#endif
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
constexpr bool kDotProducts = true;
#else
constexpr bool kDotProducts = false;
#endif
constexpr int kLanes = sizeof(Vector) / 4, kOfPanel = kScaleBlockColumns / kLanes;
constexpr int kPanels = kLanes == 16 ? 2 : 1, kVectors = kPanels * kOfPanel;
constexpr int kMr = kLanes == 16 ? 12 : kDotProducts ? 6 : kLanes == 8 ? 4 : 2;
// 1.5 * 2^23, and its bits; others convert
constexpr float kMagic = 12582912.0f;
constexpr int32_t kBias = kLanes == 16 ? 0x4b400000 : 0;
constexpr size_t kNr = kPanels * kScaleBlockColumns;
constexpr size_t kStep = 64;  // bytes of 8 depth steps of a panel
// See avx512vnni_u8s4_6x64x8.cc and avxvnni_u8s8_6x16x4.cc
constexpr size_t kAhead = kLanes == 16 ? 4096 : 2048;

OCTET_INLINE inline Floats load_floats(const float* from) { return OCTET_MM(loadu_ps)(from); }

// kLanes scales from `lane` on, as floats.
OCTET_INLINE inline Floats load_scales(const uint8_t* scales, bool f16, int lane) {
  if (!f16) return load_floats((const float*)scales + lane);
  const uint8_t* const from = scales + 2 * lane;
#if defined(__AVX512BW__)
  return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)from));
#elif defined(__AVX2__)
  return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)from));
#else
  // Sign, and exponent and mantissa moved to their places, for f16 that are normal; of others the
  // mantissa is an integer of units of 2^-24
  const __m128i bits = _mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i*)from)),
                magnitude = _mm_and_si128(bits, _mm_set1_epi32(0x7fff)),
                sign = _mm_slli_epi32(_mm_and_si128(bits, _mm_set1_epi32(0x8000)), 16),
                normal = _mm_add_epi32(_mm_slli_epi32(magnitude, 13), _mm_set1_epi32(112 << 23)),
                is_normal = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x3ff));
  const __m128 small = _mm_mul_ps(_mm_cvtepi32_ps(magnitude), _mm_set1_ps(1.0f / (1 << 24)));
  return _mm_or_ps(_mm_blendv_ps(small, _mm_castsi128_ps(normal), _mm_castsi128_ps(is_normal)),
                   _mm_castsi128_ps(sign));
#endif
}

// kLanes s8 from `lane` on, or s16 that are not negative, as int32.
OCTET_INLINE inline Vector load_bytes(const uint8_t* bytes, int lane) {
#if defined(__AVX512BW__)
  const __m128i some = _mm_loadu_si128((const __m128i*)(bytes + lane));
#elif defined(__AVX2__)
  const __m128i some = _mm_loadl_epi64((const __m128i*)(bytes + lane));
#else
  const __m128i some = _mm_cvtsi32_si128(load_quad(bytes + lane));
#endif
  return OCTET_MM(cvtepi8_epi32)(some);
}
OCTET_INLINE inline Vector load_shorts(const int16_t* from) {
#if defined(__AVX512BW__)
  const __m256i some = _mm256_loadu_si256((const __m256i*)from);
#elif defined(__AVX2__)
  const __m128i some = _mm_loadu_si128((const __m128i*)from);
#else
  const __m128i some = _mm_loadl_epi64((const __m128i*)from);
#endif
  return OCTET_MM(cvtepi16_epi32)(some);
}

// Weights as bytes of 0 to 15, of the first or the second four of 8 depth steps.
template <int second>
OCTET_INLINE inline Vector nibbles(Vector two, Vector low) {
  const Vector four = second ? OCTET_MM(srli_epi16)(two, 4) : two;
#if defined(__AVX512BW__)
  return _mm512_and_si512(four, low);
#elif defined(__AVX2__)
  return _mm256_and_si256(four, low);
#else
  return _mm_and_si128(four, low);
#endif
}

// Pointers to some rows of a tile, few of which take registers.
template <int rows, class T>
struct Rows {
  static constexpr int kApart = rows % 3 == 0 ? 3 : rows % 2 == 0 ? 2 : 1;
  T* at[rows / kApart];
  size_t stride;  // elements

  OCTET_INLINE inline Rows(T* first, size_t apart) : stride(apart) {
    unroll<rows / kApart>([&](auto i) OCTET_INLINE { at[i] = first + i * kApart * apart; });
  }
  template <class I>
  OCTET_INLINE inline T* operator[](I i) const {
    return at[i / kApart] + i % kApart * stride;
  }
  OCTET_INLINE inline void skip(size_t count) {
    unroll<rows / kApart>([&](auto i) OCTET_INLINE {
      at[i] += count;
      __asm__("" : "+r"(at[i]));  // else GCC 12 adds to all in a vector, in memory
    });
  }
};

// The weights of a tile's columns, and where a vector's are in its panel.
struct Panels {
  const uint8_t* at[kPanels];  // panels; those beyond the last one are the last one again

  explicit Panels(const ScaleBlockTile& t) {
    for (size_t p = 0; p < kPanels; ++p)
      at[p] = t.rhs + (p < t.panels ? p : t.panels - 1) * t.blocks.panel_bytes();
  }
  template <int v>
  OCTET_INLINE inline const uint8_t* of() const {
    return at[v / kOfPanel] + v % kOfPanel * sizeof(Vector);
  }
};

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
          unroll<kVectors>([&](auto v) OCTET_INLINE {
#if defined(__AVX512VNNI__)
            acc[i][v] = _mm512_dpbusd_epi32(acc[i][v], weights[v], a);
#elif defined(__AVXVNNI__)
            acc[i][v] = _mm256_dpbusd_avx_epi32(acc[i][v], weights[v], a);
#else
            acc[i][v] = OCTET_MM(add_epi16)(acc[i][v], OCTET_MM(maddubs_epi16)(weights[v], a));
#endif
            pin(acc[i][v]);
          });
        });
      });
      unroll<kPanels>([&](auto p) OCTET_INLINE { panels.at[p] += kStep; });
      lhs.skip(8);
    });
}

// Adds the products of a block.
template <int rows>
OCTET_INLINE inline void add_block(Rows<rows, const uint8_t>& lhs, size_t depth, size_t ahead,
                                   Panels& panels, Vector (&acc)[rows][kVectors]) {
  if constexpr (kDotProducts) {
    add_products<rows>(lhs, depth / 8, ahead, panels, acc);
  } else {
    constexpr size_t kChunk = 4;
    OCTET_NO_UNROLL
    for (size_t steps = depth / 8, some; steps; steps -= some) {
      some = steps < kChunk ? steps : kChunk;
      Vector sum[rows][kVectors] = {};
      add_products<rows>(lhs, some, ahead, panels, sum);
      unroll<rows>([&](auto i) OCTET_INLINE {
        unroll<kVectors>([&](auto v) OCTET_INLINE {
          acc[i][v] = OCTET_MM(add_epi32)(acc[i][v],
                                          OCTET_MM(madd_epi16)(sum[i][v], OCTET_MM(set1_epi16)(1)));
        });
      });
    }
  }
}

// Whether so many rows keep their sums in registers, beside the accumulators.
constexpr bool keeps_sums(int rows) { return kLanes == 16 ? rows <= 6 : rows * kVectors <= 4; }

// The pairs of block b's columns that init_of_row()'s are multiplied by.
OCTET_INLINE inline void load_pairs(const ScaleBlockTile& t, const Panels& panels, size_t b,
                                    Vector (&pairs)[kVectors]) {
  const ScaleBlocks& blocks = t.blocks;
  const Vector depth = OCTET_MM(set1_epi32)((int)blocks.depth), low = OCTET_MM(set1_epi32)(0xffff);
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

inline bool has_zeros(const ScaleBlockTile& t) { return t.blocks.zero_points || t.lhs_zero_points; }

// zeros: there may be zero points of blocks or of the lhs. fused: scales are f16, and rows have
// none. An instance has no branches in its rows.
template <int rows, bool zeros, bool fused>
void multiply_rows(const ScaleBlockTile& t, size_t row) {
  constexpr bool kKeeps = keeps_sums(rows);
  const ScaleBlocks blocks = t.blocks;
  const bool f16 = fused || blocks.f16;
  const size_t tail = blocks.block_bytes() - blocks.weight_bytes();
  const float* const row_scales = t.row_scales;
  const float one = 1;
  Rows<rows, const uint8_t> lhs(t.lhs + row * t.lhs_stride, t.lhs_stride);
  Floats kept[rows][kVectors];
  float* sums = t.sums + row * kNr;
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<kVectors>([&](auto v) OCTET_INLINE {
      kept[i][v] = OCTET_MM(setzero_ps)();
      if (!kKeeps) OCTET_MM(storeu_ps)(sums + kNr * i + kLanes * v, kept[i][v]);
    });
  });
  Panels panels(t);
  // Behind the end of a panel are the panels that are read beside it, and then the next panels
  const size_t near_end = blocks.count - smaller(blocks.count, kAhead / blocks.block_bytes()),
               skip = (kPanels - 1) * blocks.panel_bytes();
  OCTET_NO_UNROLL
  for (size_t b = 0; b < blocks.count; ++b) {
    const size_t ahead = kAhead + (b < near_end ? 0 : skip);
    const size_t term = row * blocks.count + b;
    Vector acc[rows][kVectors];
    const Rows<rows, const int32_t> init(t.row_init + term, blocks.count);
    Vector pairs[kVectors];
    if (zeros) load_pairs(t, panels, b, pairs);
    unroll<rows>([&](auto i) OCTET_INLINE {
      const Vector of_row = OCTET_MM(set1_epi32)(*init[i]);
      unroll<kVectors>([&](auto v) OCTET_INLINE {
        acc[i][v] = zeros ? add_pairs(OCTET_MM(set1_epi32)(kBias), pairs[v], of_row) : of_row;
        if (zeros) pin(acc[i][v]);
      });
    });
    add_block<rows>(lhs, blocks.depth, ahead, panels, acc);
    unroll<kPanels>(
        [&](auto p) OCTET_INLINE { _mm_prefetch((const char*)panels.at[p] + ahead, _MM_HINT_T0); });
    Floats scale[kVectors], minus[kVectors];
    unroll<kVectors>([&](auto v) OCTET_INLINE {
      scale[v] = load_scales(panels.at[v / kOfPanel], f16, v % kOfPanel * kLanes);
      if (fused) minus[v] = OCTET_MM(mul_ps)(scale[v], OCTET_MM(set1_ps)(-kMagic));
    });
    if (!kKeeps) __asm__("" : "+r"(sums));  // else GCC 12 keeps sums on the stack until the end
    const auto add = [&](auto i, auto v, Floats product) OCTET_INLINE {
      float* const to = sums + kNr * i + kLanes * v;
      const Floats sum = OCTET_MM(add_ps)(kKeeps ? kept[i][v] : load_floats(to), product);
      if (kKeeps)
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
    unroll<kPanels>([&](auto p) OCTET_INLINE { panels.at[p] += tail; });
  }
  if (kKeeps)
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<kVectors>([&](auto v) OCTET_INLINE {
        OCTET_MM(storeu_ps)(sums + kNr * i + kLanes * v, kept[i][v]);
      });
    });
}

template <bool zeros, bool fused>
void multiply_all(const ScaleBlockTile& t) {
  size_t row = 0;
  const auto take = [&](auto rows) OCTET_INLINE {
    for (; row + rows <= t.rows; row += rows) multiply_rows<rows, zeros, fused>(t, row);
  };
  take(Int<kMr>{});
  if constexpr (kLanes == 16) take(Int<4>{});
  if constexpr (kMr > 2) take(Int<2>{});
  take(Int<1>{});
}

void multiply_scale_blocks(const ScaleBlockTile& t) {
  constexpr bool kFuses = kLanes == 16;
  if (has_zeros(t))
    multiply_all<true, false>(t);
  else if (kFuses && t.blocks.f16 && !t.row_scales)
    multiply_all<false, kFuses>(t);
  else
    multiply_all<false, false>(t);
}

constexpr ScaleBlockKernel scale_block_kernel(const char* name, TierId tier_id) {
  return make_scale_block_kernel(name, tier_id, kMr, kNr, multiply_scale_blocks,
                                 apply_epilogue<float>, kBias, true);
}

}  // namespace
}  // namespace octet
