// SPDX-License-Identifier: Apache-2.0
// Declares the Arm kernels and their tiers' operations.
#pragma once

#include "kernels/arm/shared/layouts.h"
#include "kernels/core/depthwise_kernel.h"
#include "kernels/core/scale_blocks.h"
#include "kernels/core/tier_ops.h"
#include "kernels/core/winograd_ops.h"

namespace octet {

extern const MicroKernel sme_s8s8_32x32x4;
extern const MicroKernel sme_s8s8_2x16x4;

extern const MicroKernel i8mm_s8s8_12x64x8, i8mm_s8s8_sve256_12x64x8;
extern const MicroKernel i8mm_u8s8_12x64x8, i8mm_u8s8_sve256_12x64x8;
extern const MicroKernel i8mm_u8u8_12x64x8, i8mm_u8u8_sve256_12x64x8;
// Multiplies pairs of rows by one panel of 8 columns: `groups` times 8 depth steps. init and out
// have 2x2 blocks [r0c0 r0c1 r1c0 r1c1], four of a pair of rows; init_step: elements of init from
// one pair to the next, 0 = one for all.
using I8mmPanel = void (*)(const uint8_t* lhs, const uint8_t* rhs, size_t groups,
                           const int32_t* init, size_t init_step, int32_t* out);
// Multiplies a tile of i8mm_*_12x64x8 panel by panel; the functions are by pairs - 1.
void i8mm_multiply_by(const I8mmPanel (&by_pairs)[6], const Tile& tile);
extern const I8mmPanel sve256_panels[3][6];  // of s8 x s8, u8 x s8, u8 x u8
extern const MicroKernel i8mm_s8s8_1x64x8;
extern const MicroKernel i8mm_u8s8_1x64x8;
extern const MicroKernel i8mm_u8u8_1x64x8;

extern const MicroKernel dotprod_s8s8_6x16x4;
void dotprod_multiply_s8s8(const Tile& tile);  // its `multiply`
extern const MicroKernel dotprod_s8s8_inorder_6x16x4;
extern const MicroKernel dotprod_s8s8_sparse_4x16x16;

extern const MicroKernel neon_s8s8_inorder_4x64x16;
extern const MicroKernel neon_s8s8_4x64x16;
extern const MicroKernel neon_s8s8_int8min_4x64x16;
extern const MicroKernel neon_s8s8_2x64x16;
extern const MicroKernel neon_s8s8_int8min_2x64x16;
extern const MicroKernel neon_s8s8_sparse_2x16x16;
extern const MicroKernel neon_s8s8_sparse_int8min_2x16x16;

extern const MicroKernel i8mm_s8s4_12x64x16;
extern const MicroKernel i8mm_u8s4_12x64x16;
extern const MicroKernel i8mm_s8s4_1x16x16;
extern const MicroKernel i8mm_u8s4_1x16x16;
extern const MicroKernel dotprod_s8s4_6x16x8;
extern const MicroKernel neon_s8s4_4x64x32;
extern const MicroKernel neon_s8s4_2x64x32;
extern const ScaleBlockKernel i8mm_s8u4_blocks_8x16x8, dotprod_s8u4_blocks_4x16x8,
    neon_s8u4_blocks_2x16x8;

extern const DepthwiseKernel dotprod_s8s8_dw16;
extern const DepthwiseKernel dotprod_s8s16_dw16;
extern const DepthwiseKernel neon_s8s8_dw16;
extern const DepthwiseKernel neon_s16s8_full_dw16;  // its member `s16`
extern const DepthwiseKernel neon_s8s16_dw16;
extern const DepthwiseKernel dotprod_s8s8_group64;
extern const DepthwiseKernel neon_s8s8_group64;

extern const MicroKernel neon_s16s16_8x8x1;
extern const MicroKernel neon_s16s16_4x8x1;
extern const TierOps neon_ops;
extern const WinogradOps neon_winograd;

}  // namespace octet
