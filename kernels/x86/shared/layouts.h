// Every x86 kernel reads one rhs layout, so a blob packed for any x86 tier runs on all of them.
#pragma once

#include "kernels/core/packed_layout.h"

namespace octet {

// A group is a cache line: one zmm register of 16 columns x 4 depth steps, or two ymm registers.
// Wider panels would make the narrow tiles of the ymm kernels stride through memory and use a
// quarter of the L1 cache's sets.
constexpr RhsLayout kX86Layout = {16, 16, 4, ElementType::kS8};

// The same in an order along K in which neighbours fit 16 bits, for AVX2: kernels/core/paired_weights.h.
constexpr RhsLayout kX86PairedLayout = {16, 16, 4, ElementType::kS8, Density::kAll, true};

// Words: a group is a cache line again, 16 columns x 2 depth steps.
constexpr RhsLayout kX86Int16Layout = {16, 16, 2, ElementType::kS16};

// Winograd's weights are many megabytes, each read once per block of tiles, panel after panel
// without gaps. The hardware's prefetchers stop at every page, so the word kernels ask for what
// comes this many bytes later, beyond their own tap. Measured: 2 KB to 16 KB are alike up to 256
// channels; with 512, the farther the better, twice as fast as without.
constexpr size_t kWordPrefetch = 16384;

}  // namespace octet
