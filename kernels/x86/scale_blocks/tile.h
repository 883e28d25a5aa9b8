// Multiplies s8 rows by weights of 4 bits in scale blocks (kernels/core/scale_blocks.h), one text
// for the vector of every x86 tier.
//
// Weights are the unsigned operand of VPDPBUSD or VPMADDUBSW, as they are stored, and the rows the
// signed one, so that neither is changed on its way; the zero point of the weights is in the init
// of the sums. Per block, accumulators begin at the init and get all products; as floats they are
// scaled and added to the sums.
//
//              | products of 4 depth steps         | rows x columns
// AVX512-VNNI  | VPDPBUSD                          | 6 x 32
// AVX-VNNI     | VPDPBUSD                          | 6 x 16
// AVX2, SSE4.1 | VPMADDUBSW, VPADDW; per 32 steps, | 4 x 16, 2 x 16
//              | VPMADDWD by ones: |sum| <= 30,720 |
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
constexpr int kMr = kDotProducts ? 6 : kLanes == 8 ? 4 : 2;
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

// kLanes s8 or s16 from `lane` on, as floats.
OCTET_INLINE inline Floats load_bytes(const uint8_t* bytes, int lane) {
#if defined(__AVX512BW__)
  const __m128i some = _mm_loadu_si128((const __m128i*)(bytes + lane));
#elif defined(__AVX2__)
  const __m128i some = _mm_loadl_epi64((const __m128i*)(bytes + lane));
#else
  const __m128i some = _mm_cvtsi32_si128(load_quad(bytes + lane));
#endif
  return OCTET_MM(cvtepi32_ps)(OCTET_MM(cvtepi8_epi32)(some));
}
OCTET_INLINE inline Floats load_shorts(const int16_t* from) {
#if defined(__AVX512BW__)
  const __m256i some = _mm256_loadu_si256((const __m256i*)from);
#elif defined(__AVX2__)
  const __m128i some = _mm_loadu_si128((const __m128i*)from);
#else
  const __m128i some = _mm_loadl_epi64((const __m128i*)from);
#endif
  return OCTET_MM(cvtepi32_ps)(OCTET_MM(cvtepi16_epi32)(some));
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
OCTET_INLINE inline void add_products(const uint8_t* const (&lhs)[rows], size_t& k, size_t steps,
                                      size_t ahead, Panels& panels, Vector (&acc)[rows][kVectors]) {
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
          const Vector a = OCTET_MM(set1_epi32)(load_quad(lhs[i] + k + 4 * half));
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
      k += 8;
    });
}

// Adds the products of a block.
template <int rows>
OCTET_INLINE inline void add_block(const uint8_t* const (&lhs)[rows], size_t& k, size_t depth,
                                   size_t ahead, Panels& panels, Vector (&acc)[rows][kVectors]) {
  if constexpr (kDotProducts) {
    add_products<rows>(lhs, k, depth / 8, ahead, panels, acc);
  } else {
    constexpr size_t kChunk = 4;
    OCTET_NO_UNROLL
    for (size_t steps = depth / 8, some; steps; steps -= some) {
      some = steps < kChunk ? steps : kChunk;
      Vector sum[rows][kVectors] = {};
      add_products<rows>(lhs, k, some, ahead, panels, sum);
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
constexpr bool keeps_sums(int rows) { return kLanes == 16 || rows * kVectors <= 4; }

// x -= row_sum * zero_point: all of these are integers below 2^24, or eighths of such, and exact.
OCTET_INLINE inline void subtract_zero_points(const ScaleBlockTile& t, size_t term,
                                              const Panels& panels, Floats (&x)[kVectors]) {
  const int32_t* init = t.row_init + term;
  __asm__("" : "+r"(init));  // loads it again: GCC 12 would keep it on the stack meanwhile
  const Floats sum = OCTET_MM(set1_ps)((float)*init * (1.0f / 8));
  unroll<kVectors>([&](auto v) OCTET_INLINE {
    const Floats zero_points =
        load_bytes(panels.at[v / kOfPanel] + t.blocks.scale_bytes(), v % kOfPanel * kLanes);
    x[v] = OCTET_MM(add_ps)(x[v], OCTET_MM(mul_ps)(zero_points, sum));
  });
}
// x -= lhs_zero_point * column_sum, as exact.
OCTET_INLINE inline void subtract_lhs_zero_point(const ScaleBlockTile& t, size_t row, size_t b,
                                                 Floats (&x)[kVectors]) {
  const Floats zero_point = OCTET_MM(set1_ps)(t.lhs_zero_points[row]);
  unroll<kVectors>([&](auto v) OCTET_INLINE {
    const size_t panel = smaller(v / kOfPanel, t.panels - 1);
    const Floats sum = load_shorts(
        t.column_sums + (panel * t.blocks.count + b) * kScaleBlockColumns + v % kOfPanel * kLanes);
    x[v] = OCTET_MM(sub_ps)(x[v], OCTET_MM(mul_ps)(sum, zero_point));
  });
}

// Whether one instance serves all tiles: SSE4.1 would not gain by two, which take 4 KB more.
constexpr bool kOneInstance = kLanes == 4;

inline bool has_zeros(const ScaleBlockTile& t) { return t.blocks.zero_points || t.lhs_zero_points; }

// zeros: there may be zero points of blocks or of the lhs. An instance without them has no branches
// in its rows.
template <int rows, bool zeros>
void multiply_rows(const ScaleBlockTile& t, size_t row) {
  constexpr bool kKeeps = keeps_sums(rows);
  const ScaleBlocks blocks = t.blocks;
  const float* const row_scales = t.row_scales;
  const bool plain = !row_scales && (kOneInstance ? !has_zeros(t) : !zeros);
  const size_t tail = blocks.block_bytes() - blocks.weight_bytes();
  const uint8_t* lhs[rows];
  Floats kept[rows][kVectors];
  const auto sums_of = [&](int i) OCTET_INLINE { return t.sums + (row + i) * t.sums_stride; };
  unroll<rows>([&](auto i) OCTET_INLINE {
    lhs[i] = t.lhs + (row + i) * t.lhs_stride;
    unroll<kVectors>([&](auto v) OCTET_INLINE {
      kept[i][v] = OCTET_MM(setzero_ps)();
      if (!kKeeps) OCTET_MM(storeu_ps)(sums_of(i) + kLanes * v, kept[i][v]);
    });
  });
  Panels panels(t);
  // Behind the end of a panel are the panels that are read beside it, and then the next panels
  const size_t near_end = blocks.count - smaller(blocks.count, kAhead / blocks.block_bytes()),
               skip = (kPanels - 1) * blocks.panel_bytes();
  size_t k = 0;
  OCTET_NO_UNROLL
  for (size_t b = 0; b < blocks.count; ++b) {
    const size_t ahead = kAhead + (b < near_end ? 0 : skip);
    Vector acc[rows][kVectors];
    unroll<rows>([&](auto i) OCTET_INLINE {
      const Vector init = OCTET_MM(set1_epi32)(t.row_init[(row + i) * blocks.count + b]);
      unroll<kVectors>([&](auto v) OCTET_INLINE { acc[i][v] = init; });
    });
    add_block<rows>(lhs, k, blocks.depth, ahead, panels, acc);
    Floats scale[kVectors];
    unroll<kPanels>(
        [&](auto p) OCTET_INLINE { _mm_prefetch((const char*)panels.at[p] + ahead, _MM_HINT_T0); });
    unroll<kVectors>([&](auto v) OCTET_INLINE {
      scale[v] = load_scales(panels.at[v / kOfPanel], blocks.f16, v % kOfPanel * kLanes);
    });
    const auto add = [&](int i, int v, Floats x, Floats by) OCTET_INLINE {
      float* const to = sums_of(i) + kLanes * v;
      const Floats sum =
          OCTET_MM(add_ps)(kKeeps ? kept[i][v] : load_floats(to), OCTET_MM(mul_ps)(x, by));
      if (kKeeps)
        kept[i][v] = sum;
      else
        OCTET_MM(storeu_ps)(to, sum);
    };
    if (plain)
      unroll<rows>([&](auto i) OCTET_INLINE {
        unroll<kVectors>(
            [&](auto v) OCTET_INLINE { add(i, v, OCTET_MM(cvtepi32_ps)(acc[i][v]), scale[v]); });
      });
    else
      unroll<rows>([&](auto i) OCTET_INLINE {
        const size_t term = (row + i) * blocks.count + b;
        Floats x[kVectors];
        unroll<kVectors>([&](auto v) OCTET_INLINE { x[v] = OCTET_MM(cvtepi32_ps)(acc[i][v]); });
        if (zeros && blocks.zero_points) subtract_zero_points(t, term, panels, x);
        if (zeros && t.lhs_zero_points) subtract_lhs_zero_point(t, row + i, b, x);
        const Floats row_scale = OCTET_MM(set1_ps)(zeros && !row_scales ? 1.0f : row_scales[term]);
        unroll<kVectors>(
            [&](auto v) OCTET_INLINE { add(i, v, x[v], OCTET_MM(mul_ps)(row_scale, scale[v])); });
      });
    unroll<kPanels>([&](auto p) OCTET_INLINE { panels.at[p] += tail; });
  }
  if (kKeeps)
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<kVectors>([&](auto v) OCTET_INLINE {
        OCTET_MM(storeu_ps)(sums_of(i) + kLanes * v, kept[i][v]);
      });
    });
}

template <bool zeros>
void multiply_all(const ScaleBlockTile& t) {
  size_t row = 0;
  const auto take = [&](auto rows) OCTET_INLINE {
    for (; row + rows <= t.rows; row += rows) multiply_rows<rows, zeros>(t, row);
  };
  take(Int<kMr>{});
  if constexpr (kLanes == 16) take(Int<4>{});
  if constexpr (kMr > 2) take(Int<2>{});
  take(Int<1>{});
}

void multiply_scale_blocks(const ScaleBlockTile& t) {
  if (kOneInstance || has_zeros(t))
    multiply_all<true>(t);
  else
    multiply_all<kOneInstance>(t);  // instantiates nothing more where one instance serves all
}

constexpr ScaleBlockKernel scale_block_kernel(const char* name, TierId tier_id) {
  return make_scale_block_kernel(name, tier_id, kMr, kPanels * kScaleBlockColumns,
                                 multiply_scale_blocks, apply_epilogue<float>);
}

}  // namespace
}  // namespace octet
