// SPDX-License-Identifier: Apache-2.0
// Describes the formats of 2:4 sparse weights: of every four consecutive steps along depth, a lane
// (a column) has at most two that are not zero. The format always stores two.
//
// In the format that all tiers read fast, a group is 16 steps of 16 lanes in three cache lines:
//
//     values of steps 0-7     lane 0: a b c d | lane 1: a b c d | ...   s8; a, b of steps 0-3,
//     values of steps 8-15    the same                                  c, d of steps 4-7
//     places                  lane 0: A B C D | lane 1: ...             each value's step of the
//                                                                       eight: bits 0-2 for the
//                                                                       first line of values,
//                                                                       bits 4-6 for the second
//
// It takes 3/4 of the dense bytes. A byte shuffle picks the lhs of a value by its place. It reads
// the lowest bits of an index and the highest one, which is 0, so the places of the first line need
// no mask, and those of the second only a shift.
//
// With few rows, loading the weights takes longest, and fewer bytes pay more: the tight format
// stores each value's place within its four steps in two bits. A group is 32 steps in five lines,
// 5/8 of the dense bytes:
//
//     places                  lane 0: A B C D | lane 1: ...    bits 0-1 for the first line of
//                                                              values, 4-5 for the second, 2-3
//                                                              for the third, 6-7 for the fourth
//     values of steps 0-7, 8-15, 16-23, 24-31       a line each, as above
//
// Places come first because a kernel needs them first, and hardware prefetches in order.
// `places & 0x33` and `places >> 2 & 0x33`, with the bit that puts C and D into the second four,
// are the places of two groups of the other format.
#pragma once

#include "kernels/core/packed_layout.h"

namespace octet {

constexpr size_t kSparseLanes = 16, kSparseSteps = 16;
// Bits per step: a fourth of two values of 8 bits and two places of 4, or of 2 in the tight format
constexpr uint8_t kSparseBits = 6, kSparseTightBits = 5;
constexpr RhsLayout kSparseLayout = {kSparseLanes,     kSparseLanes, kSparseSteps,
                                     ElementType::kS8, kSparseBits,  Density::kTwoOfFour};

constexpr size_t kSparseLine = 64;  // bytes of each of a group's lines
constexpr size_t kSparseGroup = 3 * kSparseLine;
static_assert(kSparseGroup == kSparseLanes * kSparseLayout.group_bytes(),
              "what the layout's formula says");

constexpr RhsLayout kSparseTightLayout = {kSparseLanes,     kSparseLanes,     2 * kSparseSteps,
                                          ElementType::kS8, kSparseTightBits, Density::kTwoOfFour};
constexpr size_t kSparseTightGroup = 5 * kSparseLine;
static_assert(kSparseTightGroup == kSparseLanes * kSparseTightLayout.group_bytes(),
              "what the layout's formula says");
// kTightPlaces masks the places of two lines of values in a byte. kTightSecondFour, or-ed to the
// four bytes of a lane, puts C and D into the second four
constexpr uint8_t kTightPlaces = 0x33;
constexpr uint32_t kTightSecondFour = 0x44440000;

}  // namespace octet
