// SPDX-License-Identifier: Apache-2.0
// Self-test of s16 values, and its cases: accumulators that are hard to round, and their outputs.
#pragma once

#include "dispatch/self_test/cases.h"
#include "kernels/core/micro_kernel.h"
#include "kernels/core/tier_ops.h"

namespace octet {

// A chunk and a part of one; the last column is never asked for.
constexpr size_t kS16TestColumns = 2 * kS16Columns;
constexpr int32_t kS16Lo = -1000, kS16Hi = 20000;
int16_t within_s16(int64_t x);

// TFLite mode and double mode. Accumulators are below 2^(18 + 7 + least_shift), and those of the
// shifts below leave int32, and 38 bits.
// Kernels that make outputs themselves shift by 16 and more (S16Epilogue::in_kernel).
constexpr int kWideShift = 13, kWidestShift = 22, kLeastShiftInKernel = 1;
struct S16Cases {
  int64_t acc[kS16TestColumns];
  int32_t multiplier[kS16TestColumns], right[kS16TestColumns];
  double factor[kS16TestColumns], up[kS16TestColumns];
  int16_t tflite[kS16TestColumns], away[kS16TestColumns];
  explicit S16Cases(int least_shift);
};

// The thread must round to nearest. floats: Accumulators::kAll.
bool computes_s16(const TierOps& ops, const FloatCases& floats);

// Of a row of s16_kernels(), whose layout has groups of 4.
bool passes_s16(const MicroKernel& kernel);

}  // namespace octet
