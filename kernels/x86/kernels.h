// Every x86 kernel reads one rhs layout, so a blob packed for any x86 tier runs on all of them.
#pragma once

#include "kernels/core/depthwise_kernel.h"
#include "kernels/core/tier_ops.h"
#include "kernels/core/winograd.h"

namespace octet {

// A group is a cache line: one zmm register of 16 columns x 4 depth steps, or two ymm registers.
// Wider panels would make the narrow tiles of the ymm kernels stride through memory and use a
// quarter of the L1 cache's sets.
constexpr RhsLayout kX86Layout = {16, 16, 4, Domain::kS8};

// The same in an order along K in which neighbours fit 16 bits, for AVX2: kernels/core/pairs.h.
constexpr RhsLayout kX86PairedLayout = {16, 16, 4, Domain::kS8, Density::kAll, true};

// Words: a group is a cache line again, 16 columns x 2 depth steps.
constexpr RhsLayout kX86WordLayout = {16, 16, 2, Domain::kS16};

// Winograd's weights are many megabytes, each read once per block of tiles, panel after panel
// without gaps. The hardware's prefetchers stop at every page, so the word kernels ask for what
// comes this many bytes later, beyond their own tap. Measured: 2 KB to 16 KB are alike up to 256
// channels; with 512, the farther the better, twice as fast as without.
constexpr size_t kWordPrefetch = 16384;

extern const MicroKernel avx512vnni_u8s8_6x64x4;
extern const MicroKernel avx512vnni_u8s8_sparse_8x32x16;
extern const MicroKernel avx512vnni_u8s8_sparse_4x32x32;
extern const MicroKernel avxvnni_u8s8_6x16x4;
extern const MicroKernel avxvnni_u8s8_sparse_4x16x16;
extern const MicroKernel avxvnni_u8s8_sparse_4x16x32;
extern const MicroKernel avx2_s16s8_6x16x4;
extern const MicroKernel avx2_s8s8_sparse_4x16x16;
extern const MicroKernel avx2_u8s8_8x8x4;
extern const MicroKernel avx2_u8s8_6x64x4;
extern const MicroKernel sse41_s16s8_6x8x4;

extern const MicroKernel avx512vnni_s16s16_14x32x2;
extern const MicroKernel avxvnni_s16s16_6x16x2;
extern const MicroKernel avx2_s16s16_6x16x2;
extern const MicroKernel sse41_s16s16_3x16x2;

extern const DepthwiseKernel avx512vnni_u8s8_dw64;
extern const DepthwiseKernel avx512vnni_u8s8_dw32;
extern const DepthwiseKernel avxvnni_u8s8_dw32;
extern const DepthwiseKernel avx2_s16s8_dw32;
extern const DepthwiseKernel avx512vnni_u8s16_dw64;
extern const DepthwiseKernel avx512vnni_u8s16_dw32;
extern const DepthwiseKernel avx512vnni_u8s8_group64;
extern const DepthwiseKernel avxvnni_u8s8_group64;
extern const DepthwiseKernel avx2_s16s8_group64;
extern const DepthwiseKernel avx2_u8s16_dw32;
extern const DepthwiseKernel sse41_s16s8_dw16;
extern const DepthwiseKernel sse41_u8s16_dw16;

extern const TierOps sse41_ops, avx2_ops, avx512_ops;
extern const WinogradOps sse41_winograd, avx2_winograd, avx512_winograd;

}  // namespace octet
