// SPDX-License-Identifier: Apache-2.0
// Declares the portable kernels and their layouts.
#pragma once

#include "kernels/core/depthwise_kernel.h"
#include "kernels/core/scale_blocks.h"
#include "kernels/generic/int4.h"

namespace octet {

constexpr RhsLayout kScalarLayout = {4, 4, 4, ElementType::kS8};
constexpr RhsLayout kScalarInt4Layout = int4_layout(kScalarLayout);
constexpr RhsLayout kScalarTestLayout = {5, 5, 2, ElementType::kS8};  // odd sizes, for tests only
constexpr RhsLayout kScalarInt16Layout = {4, 4, 2, ElementType::kS16, 16};

extern const MicroKernel scalar_u8s8_4x16x4;
extern const MicroKernel scalar_u8s8_4x4x4;
extern const MicroKernel scalar_u8s8_3x5x2;
extern const MicroKernel scalar_u8s4_4x16x8;
extern const MicroKernel scalar_u8s4_4x4x8;
extern const MicroKernel scalar_u8s8_sparse_4x16x16;
extern const MicroKernel scalar_u8s8_sparse_4x16x32;
extern const MicroKernel scalar_s16s16_4x4x2;
extern const ScaleBlockKernel scalar_s8u4_blocks_1x16x8;

extern const DepthwiseKernel scalar_u8s8_dw16;
extern const DepthwiseKernel scalar_s16s8_full_dw16;  // its member `s16`
extern const DepthwiseKernel scalar_u8s16_dw16;
extern const DepthwiseKernel scalar_u8s8_group16;

}  // namespace octet
