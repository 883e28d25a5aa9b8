// How 2:4 sparse weights lie: of every four consecutive steps along depth a lane (a column) has at
// most two that are not zero, and always room for two.
//
// A group of the form that all tiers read fast is 16 steps of 16 lanes in three lines of cache:
//
//     values of steps 0-7     lane 0: a b c d | lane 1: a b c d | ...   s8; a, b of steps 0-3,
//     values of steps 8-15    likewise                                  c, d of steps 4-7
//     places                  lane 0: A B C D | lane 1: ...             which of the eight steps
//                                                                       each is of: bits 0-2 for
//                                                                       the first line of values,
//                                                                       bits 4-6 for the second
//
// That is 3/4 of the dense bytes. A byte shuffle picks the lhs of a value by its place: it looks at
// the lowest bits of an index and at the highest, which is 0, so that the places of the first line
// need no mask, and those of the second only a shift.
//
// Where few rows wait for weights, fewer bytes are worth more than that: the tight form says of
// each value which of its four steps it is of, a quarter of a byte. A group is 32 steps in five
// lines, 5/8 of the dense bytes:
//
//     places                  lane 0: A B C D | lane 1: ...    bits 0-1 for the first line of
//                                                              values, 4-5 for the second, 2-3
//                                                              for the third, 6-7 for the fourth
//     values of steps 0-7, 8-15, 16-23, 24-31       a line each, as above
//
// Places come first, as a kernel wants them first: what is read in order is fetched ahead better.
// So `places & 0x33` and `places >> 2 & 0x33`, with a bit for the fours that C and D are of, are
// the places of two groups of the other form.
#pragma once

#include "kernels/core/packed_layout.h"

namespace octet {

constexpr size_t kSparseLanes = 16, kSparseSteps = 16;
constexpr RhsLayout kSparseLayout = {kSparseLanes, kSparseLanes, kSparseSteps, ElementType::kS8,
                                     Density::kTwoOfFour};

constexpr size_t kSparseLine = 64;  // of a group's three
constexpr size_t kSparseGroup = 3 * kSparseLine;
static_assert(kSparseGroup == kSparseLanes * kSparseLayout.group_bytes(),
              "what the layout's formula says");

constexpr RhsLayout kSparseTightLayout = {kSparseLanes, kSparseLanes, 2 * kSparseSteps,
                                          ElementType::kS8, Density::kTwoOfFourTight};
constexpr size_t kSparseTightGroup = 5 * kSparseLine;
static_assert(kSparseTightGroup == kSparseLanes * kSparseTightLayout.group_bytes(),
              "what the layout's formula says");
// Of a byte of places, what is left for two lines of values; of four bytes, as a word, what tells C
// and D from A and B
constexpr uint8_t kTightPlaces = 0x33;
constexpr uint32_t kTightSecondFour = 0x44440000;

}  // namespace octet
