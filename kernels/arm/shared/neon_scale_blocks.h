// SPDX-License-Identifier: Apache-2.0
// Multiplies s8 rows by weights of 4 or 8 bits in scale blocks (kernels/core/scale_blocks.h), one
// text for SDOT and for SMULL with pairwise sums.
//
//          | products of 4 depth steps       | rows x 16 columns
// DOTPROD  | SDOT by a lane of 16 lhs bytes  | 4
// NEON     | SMLAL; per 32 steps, SADDLP and | 2; 1 on 32-bit Arm
//          | ADDP: |sum| <= 15,360           |
//
// 32-bit Arm's vectors of floats flush small numbers to zero: there the last step is plain C++.
#pragma once

#include <arm_neon.h>

#include "kernels/core/compiler.h"
#include "kernels/generic/epilogue.h"
#include "kernels/generic/scale_blocks.h"

namespace octet {
namespace {

constexpr int kVectors = 4;  // of a panel's columns
#if defined(__ARM_FEATURE_DOTPROD)
constexpr int kMr = 4;
#elif defined(__aarch64__)
constexpr int kMr = 2;
#else
constexpr int kMr = 1;
#endif

// Weights as bytes of 0 to 15, of the first or the second four of 8 depth steps.
template <int second>
OCTET_INLINE inline int8x16_t nibbles(uint8x16_t two) {
  return vreinterpretq_s8_u8(second ? vshrq_n_u8(two, 4) : vandq_u8(two, vdupq_n_u8(15)));
}

// Weights of 8 bits, from which the 128 that were added are taken away.
OCTET_INLINE inline int8x16_t load_weights(const uint8_t* from) {
  return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(from), vdupq_n_u8(0x80)));
}

OCTET_INLINE inline int32_t load_four(const uint8_t* from) {
  int32_t four;
  __builtin_memcpy(&four, from, sizeof four);
  return four;
}

#if defined(__ARM_FEATURE_DOTPROD)
// Adds the products of a block.
template <int rows>
OCTET_INLINE inline void add_block(const uint8_t* const (&lhs)[rows], size_t& k, size_t depth,
                                   const uint8_t*& rhs, int32x4_t (&acc)[rows][kVectors]) {
  OCTET_NO_UNROLL
  for (size_t steps = depth / 16; steps; --steps, k += 16, rhs += 128) {
    int8x16_t a[rows];
    unroll<rows>([&](auto i) OCTET_INLINE { a[i] = vld1q_s8((const int8_t*)lhs[i] + k); });
    unroll<2>([&](auto eight) OCTET_INLINE {
      unroll<kVectors>([&](auto v) OCTET_INLINE {
        const uint8x16_t two = vld1q_u8(rhs + 64 * eight + 16 * v);
        const int8x16_t first = nibbles<0>(two), second = nibbles<1>(two);
        unroll<rows>([&](auto i) OCTET_INLINE {
          acc[i][v] = vdotq_laneq_s32(acc[i][v], first, a[i], 2 * eight);
          acc[i][v] = vdotq_laneq_s32(acc[i][v], second, a[i], 2 * eight + 1);
        });
      });
    });
  }
}
// The same with weights of 8 bits.
template <int rows>
OCTET_INLINE inline void add_bytes(const uint8_t* const (&lhs)[rows], size_t& k, size_t depth,
                                   const uint8_t*& rhs, int32x4_t (&acc)[rows][kVectors]) {
  OCTET_NO_UNROLL
  for (size_t steps = depth / 16; steps; --steps, k += 16, rhs += 256) {
    int8x16_t a[rows];
    unroll<rows>([&](auto i) OCTET_INLINE { a[i] = vld1q_s8((const int8_t*)lhs[i] + k); });
    unroll<4>([&](auto four) OCTET_INLINE {
      unroll<kVectors>([&](auto v) OCTET_INLINE {
        const int8x16_t weights = load_weights(rhs + 64 * four + 16 * v);
        unroll<rows>([&](auto i) OCTET_INLINE {
          acc[i][v] = vdotq_laneq_s32(acc[i][v], weights, a[i], four);
        });
      });
    });
  }
}
#else
OCTET_INLINE inline int32x4_t add_pairs(int32x4_t a, int32x4_t b) {
#if defined(__aarch64__)
  return vpaddq_s32(a, b);
#else
  return vcombine_s32(vpadd_s32(vget_low_s32(a), vget_high_s32(a)),
                      vpadd_s32(vget_low_s32(b), vget_high_s32(b)));
#endif
}

template <int rows>
OCTET_INLINE inline void add_block(const uint8_t* const (&lhs)[rows], size_t& k, size_t depth,
                                   const uint8_t*& rhs, int32x4_t (&acc)[rows][kVectors]) {
  constexpr size_t kChunk = 4;
  OCTET_NO_UNROLL
  for (size_t steps = depth / 8, some; steps; steps -= some) {
    some = steps < kChunk ? steps : kChunk;
    int16x8_t sum[rows][kVectors][2] = {};
    OCTET_NO_UNROLL
    for (size_t step = some; step; --step, k += 8, rhs += 64)
      unroll<2>([&](auto half) OCTET_INLINE {
        int8x8_t a[rows];
        unroll<rows>([&](auto i) OCTET_INLINE {
          a[i] = vreinterpret_s8_s32(vdup_n_s32(load_four(lhs[i] + k + 4 * half)));
        });
        unroll<kVectors>([&](auto v) OCTET_INLINE {
          const int8x16_t weights = nibbles<half>(vld1q_u8(rhs + 16 * v));
          unroll<rows>([&](auto i) OCTET_INLINE {
            sum[i][v][0] = vmlal_s8(sum[i][v][0], vget_low_s8(weights), a[i]);
            sum[i][v][1] = vmlal_s8(sum[i][v][1], vget_high_s8(weights), a[i]);
          });
        });
      });
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<kVectors>([&](auto v) OCTET_INLINE {
        acc[i][v] =
            vaddq_s32(acc[i][v], add_pairs(vpaddlq_s16(sum[i][v][0]), vpaddlq_s16(sum[i][v][1])));
      });
    });
  }
}

template <int rows>
OCTET_INLINE inline void add_bytes(const uint8_t* const (&lhs)[rows], size_t& k, size_t depth,
                                   const uint8_t*& rhs, int32x4_t (&acc)[rows][kVectors]) {
  OCTET_NO_UNROLL
  for (size_t end = k + depth; k < end; k += 4, rhs += 64)
    unroll<rows>([&](auto i) OCTET_INLINE {
      const int8x8_t a = vreinterpret_s8_s32(vdup_n_s32(load_four(lhs[i] + k)));
      unroll<kVectors>([&](auto v) OCTET_INLINE {
        const int8x16_t weights = load_weights(rhs + 16 * v);
        acc[i][v] =
            vaddq_s32(acc[i][v], add_pairs(vpaddlq_s16(vmull_s8(vget_low_s8(weights), a)),
                                           vpaddlq_s16(vmull_s8(vget_high_s8(weights), a))));
      });
    });
}
#endif

#if defined(__aarch64__)
// Four scales, or zero points, as floats.
OCTET_INLINE inline float32x4_t load_scales(const uint8_t* scales, bool f16, int lane) {
  return f16 ? vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(scales + 2 * lane)))
             : vreinterpretq_f32_u8(vld1q_u8(scales + 4 * lane));
}
OCTET_INLINE inline float32x4_t load_bytes(const uint8_t* bytes, int lane) {
  const int8x8_t some = vreinterpret_s8_s32(vdup_n_s32(load_four(bytes + lane)));
  return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(some))));
}

// As add_scaled of kernels/generic/scale_blocks.h, for some rows. zeros: there may be zero points
// of blocks or of the lhs.
template <int rows, bool zeros>
OCTET_INLINE inline void add_scaled_rows(const ScaleBlockTile& t, size_t row, size_t b,
                                         size_t panel, const uint8_t* scales,
                                         const int32x4_t (&acc)[rows][kVectors], float* sums) {
  const ScaleBlocks& blocks = t.blocks;
  float32x4_t scale[kVectors];
  unroll<kVectors>([&](auto v) OCTET_INLINE { scale[v] = load_scales(scales, blocks.f16, 4 * v); });
  unroll<rows>([&](auto i) OCTET_INLINE {
    const size_t term = (row + i) * blocks.count + b;
    float* const sum = sums + i * kScaleBlockColumns;
    const auto add = [&](auto v, float32x4_t x, float32x4_t by) OCTET_INLINE {
      vst1q_f32(sum + 4 * v, vaddq_f32(vld1q_f32(sum + 4 * v), vmulq_f32(x, by)));
    };
    float32x4_t x[kVectors];
    unroll<kVectors>([&](auto v) OCTET_INLINE { x[v] = vcvtq_f32_s32(acc[i][v]); });
    if (zeros && blocks.zero_points) {
      const float row_sum = (float)t.row_init[term] * (1.0f / 8);
      unroll<kVectors>([&](auto v) OCTET_INLINE {
        x[v] =
            vaddq_f32(x[v], vmulq_n_f32(load_bytes(scales + blocks.scale_bytes(), 4 * v), row_sum));
      });
    }
    if (zeros && t.lhs_zero_points) {
      const int16_t* const of = t.column_sums + (panel * blocks.count + b) * kScaleBlockColumns;
      unroll<kVectors>([&](auto v) OCTET_INLINE {
        x[v] = vsubq_f32(x[v], vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vld1_s16(of + 4 * v))),
                                           t.lhs_zero_points[row + i]));
      });
    }
    if (t.row_scales) {
      const float row_scale = t.row_scales[term];
      unroll<kVectors>([&](auto v)
                           OCTET_INLINE { add(v, x[v], vmulq_n_f32(scale[v], row_scale)); });
    } else {
      unroll<kVectors>([&](auto v) OCTET_INLINE { add(v, x[v], scale[v]); });
    }
  });
}
#else
template <int rows, bool zeros>
OCTET_INLINE inline void add_scaled_rows(const ScaleBlockTile& t, size_t row, size_t b,
                                         size_t panel, const uint8_t* scales,
                                         const int32x4_t (&acc)[rows][kVectors], float* sums) {
  for (size_t i = 0; i < rows; ++i) {
    int32_t values[kScaleBlockColumns];
    for (int v = 0; v < kVectors; ++v) vst1q_s32(values + 4 * v, acc[i][v]);
    add_scaled(t, row + i, b, panel, scales, values, sums + i * kScaleBlockColumns);
  }
}
#endif

template <int rows, bool zeros, bool bytes>
void multiply_rows(const ScaleBlockTile& t, size_t row, size_t panel) {
  const ScaleBlocks blocks = t.blocks;
  const uint8_t* rhs = t.rhs + panel * blocks.panel_bytes();
  float* const sums = t.sums + row * kScaleBlockColumns + panel * kScaleBlockColumns;
  const uint8_t* lhs[rows];
  unroll<rows>([&](auto i) OCTET_INLINE {
    lhs[i] = t.lhs + (row + i) * t.lhs_stride;
    __builtin_memset(sums + i * kScaleBlockColumns, 0, kScaleBlockColumns * sizeof *sums);
  });
  const size_t tail = blocks.block_bytes() - blocks.weight_bytes();
  size_t k = 0;
  OCTET_NO_UNROLL
  for (size_t b = 0; b < blocks.count; ++b, rhs += tail) {
    int32x4_t acc[rows][kVectors];
    unroll<rows>([&](auto i) OCTET_INLINE {
      const int32x4_t init = vdupq_n_s32(t.row_init[(row + i) * blocks.count + b]);
      unroll<kVectors>([&](auto v) OCTET_INLINE { acc[i][v] = init; });
    });
    if (bytes)
      add_bytes<rows>(lhs, k, blocks.depth, rhs, acc);
    else
      add_block<rows>(lhs, k, blocks.depth, rhs, acc);
    add_scaled_rows<rows, zeros>(t, row, b, panel, rhs, acc, sums);
  }
}

template <bool zeros, bool bytes = false>
void multiply_all(const ScaleBlockTile& t) {
  for (size_t panel = 0; panel < t.panels; ++panel) {
    size_t row = 0;
    for (; row + kMr <= t.rows; row += kMr) multiply_rows<kMr, zeros, bytes>(t, row, panel);
    if constexpr (kMr > 2)
      for (; row + 2 <= t.rows; row += 2) multiply_rows<2, zeros, bytes>(t, row, panel);
    if constexpr (kMr > 1)
      for (; row < t.rows; ++row) multiply_rows<1, zeros, bytes>(t, row, panel);
  }
}

void multiply_scale_blocks(const ScaleBlockTile& t) {
#if defined(__ARM_FEATURE_DOTPROD)
  constexpr bool kOneText = false;
#else
  constexpr bool kOneText = true;  // products take so long that branches do not matter
#endif
  if (t.blocks.bytes)
    multiply_all<true, true>(t);
  else if (kOneText || t.blocks.zero_points || t.lhs_zero_points)
    multiply_all<true>(t);
  else
    multiply_all<kOneText>(t);
}

constexpr ScaleBlockKernel scale_block_kernel(const char* name, TierId tier_id) {
  return make_scale_block_kernel(name, tier_id, kMr, kScaleBlockColumns, multiply_scale_blocks,
                                 add_minimums, apply_epilogue<float>);
}

}  // namespace
}  // namespace octet
