// SPDX-License-Identifier: Apache-2.0
// The rhs layouts of x86, and the constants of its int16 kernels. All dense x86 kernels share
// kX86Layout, so a blob packed for one x86 tier runs on all.
#pragma once

#include "kernels/core/micro_kernel.h"
#include "kernels/core/packed_layout.h"
#include "kernels/core/paired_weights.h"
#include "kernels/generic/int4.h"

namespace octet {

// A group is a cache line: one zmm register of 16 columns x 4 depth steps, or two ymm registers.
// Wider panels would make the narrow tiles of the ymm kernels stride through memory and use a
// quarter of the L1 cache's sets.
constexpr RhsLayout kX86Layout = {16, 16, 4, ElementType::kS8};

// kX86Layout with pairs that fit 16 bits, for AVX2: kernels/core/paired_weights.h.
constexpr RhsLayout kX86PairedLayout = {kPairColumns,
                                        kPairColumns,
                                        kPairGroup,
                                        ElementType::kS8,
                                        8,
                                        Density::kAll,
                                        {kPairWindowTable, kPairPartTable}};
static_assert(kX86PairedLayout.lane_bytes(kPairPart) ==
                  (pair_groups(kPairPart) + PairPart(kPairPart).tables()) * kPairGroup,
              "PairPart says the same");
static_assert(kX86PairedLayout.lane_bytes(kPairPart + 5) ==
                  (pair_groups(kPairPart + 5) + PairPart(kPairPart).tables() +
                   PairPart(5).tables()) *
                      kPairGroup,
              "of several parts, too");

// A group of 4 bits is a cache line, too, of 16 columns x 8 depth steps.
constexpr RhsLayout kX86Int4Layout = int4_layout(kX86Layout);

// Weights of more than an L1 cache come from L2 for every tile, and products that wait for them
// are issued again. Kernels prefetch this many bytes ahead in each panel. Measured on Cascade Lake
// (2026-11-28, avx512vnni_u8s8_6x64x4 at c4972782): with a depth of 1024, 512 to 2 KB take 0.93 to
// 0.95 of the time without a prefetch; with a depth of 64, where the weights are in L1, up to 1.06.
constexpr size_t kWeightsAhead = 512;

// int16: a group is a cache line, too, of 16 columns x 2 depth steps.
constexpr RhsLayout kX86Int16Layout = {16, 16, 2, ElementType::kS16, 16};

// Winograd's weights are many megabytes, read once per block of tiles, panel after panel without
// gaps. The hardware's prefetchers stop at every page, so the int16 kernels prefetch this many
// bytes ahead, beyond their own tap. Measured: 2 KB to 16 KB are equal up to 256 channels; with
// 512, a longer distance is better, and twice as fast as none.
constexpr size_t kInt16Prefetch = 16384;

// A kernel of int16, for Winograd's products.
constexpr MicroKernel int16_kernel(const char* name, TierId tier_id, uint8_t mr, uint16_t nr,
                                   MultiplyFn multiply) {
  return {
      .name = name,
      .tier_id = tier_id,
      .lhs_element_type = ElementType::kS16,
      .mr = mr,
      .nr = nr,
      .flags = kRequantizes,
      .rhs_layout = kX86Int16Layout,
      .lhs_kr = 2,
      .lhs_element_bytes = 2,
      .multiply = multiply,
  };
}

}  // namespace octet
