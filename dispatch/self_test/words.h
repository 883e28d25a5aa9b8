// Self-test of words (s16), and its cases: accumulators that are hard to round, and their outputs.
#pragma once

#include "dispatch/self_test/cases.h"
#include "kernels/core/micro_kernel.h"
#include "kernels/core/tier_ops.h"

namespace octet {

// A chunk and a part of one; the last column is never asked for.
constexpr size_t kWordTestColumns = 2 * kWordColumns;
constexpr int32_t kWordsLo = -1000, kWordsHi = 20000;
int16_t within_words(int64_t x);

// TFLite mode and double mode. Accumulators are below 2^(18 + 7 + least_shift), and those of the
// shifts below leave int32, and 38 bits.
// Kernels that make outputs themselves shift by 16 and more (WordEpilogue::in_kernel).
constexpr int kWideShift = 13, kWidestShift = 22, kLeastShiftInKernel = 1;
struct WordCases {
  int64_t acc[kWordTestColumns];
  int32_t multiplier[kWordTestColumns], right[kWordTestColumns];
  double factor[kWordTestColumns], up[kWordTestColumns];
  int16_t tflite[kWordTestColumns], away[kWordTestColumns];
  explicit WordCases(int least_shift);
};

// The thread must round to nearest. floats: Accumulators::kAll.
bool computes_words(const TierOps& ops, const FloatCases& floats);

// Of a row of words_kernels(), whose layout has groups of 4.
bool passes_words(const MicroKernel& kernel);

}  // namespace octet
