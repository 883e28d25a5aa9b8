// Arm tiers. Each has its own rhs layout, independent of M; the last panel of a matrix is only as
// wide as `step` asks for.
#pragma once

#include "kernels/core/depthwise_kernel.h"
#include "kernels/core/tier_ops.h"
#include "kernels/core/winograd.h"

namespace octet {

// SMMLA multiplies 2 rows x 8 by 8 x 2 columns: a register holds two columns of 8 depth steps, a
// group of a panel four registers.
constexpr RhsLayout kI8mmLayout = {8, 8, 8, Domain::kS8};
constexpr RhsLayout kI8mmU8Layout = {8, 8, 8, Domain::kU8};
// SDOT: a register holds four columns of 4 depth steps.
constexpr RhsLayout kDotprodLayout = {16, 8, 4, Domain::kS8};
// SMULL and SMLAL2: a register holds one column of 16 depth steps.
constexpr RhsLayout kNeonLayout = {4, 4, 16, Domain::kS8};

// Words, for SMLAL by lane: a register holds 8 columns of one depth step. All tiers share it.
constexpr RhsLayout kArmWordLayout = {8, 8, 1, Domain::kS16};

extern const MicroKernel i8mm_s8s8_12x64x8;
extern const MicroKernel i8mm_u8s8_12x64x8;
extern const MicroKernel i8mm_u8u8_12x64x8;
extern const MicroKernel i8mm_s8s8_1x16x8;
extern const MicroKernel i8mm_u8s8_1x16x8;
extern const MicroKernel i8mm_u8u8_1x16x8;

extern const MicroKernel dotprod_s8s8_6x16x4;
extern const MicroKernel dotprod_s8s8_inorder_6x16x4;
extern const MicroKernel dotprod_s8s8_sparse_4x16x16;

extern const MicroKernel neon_s8s8_4x64x16;
extern const MicroKernel neon_s8s8_least_4x64x16;
extern const MicroKernel neon_s8s8_2x64x16;
extern const MicroKernel neon_s8s8_least_2x64x16;
extern const MicroKernel neon_s8s8_sparse_2x16x16;
extern const MicroKernel neon_s8s8_sparse_least_2x16x16;

extern const DepthwiseKernel dotprod_s8s8_dw16;
extern const DepthwiseKernel neon_s8s8_dw16;
extern const DepthwiseKernel neon_s8s16_dw16;
extern const DepthwiseKernel dotprod_s8s8_group64;
extern const DepthwiseKernel neon_s8s8_group64;

extern const MicroKernel neon_s16s16_8x8x1;
extern const MicroKernel neon_s16s16_4x8x1;
extern const TierOps neon_ops;
extern const WinogradOps neon_winograd;

}  // namespace octet
