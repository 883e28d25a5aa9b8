// SPDX-License-Identifier: Apache-2.0
// Finds floats that give every output of TFLite mode, for columns that are shifted to the right:
//
//     trunc(x * high + fl(x * low + copysign(begin, x)))
//
// where the outer sum is rounded towards zero, so that it and trunc are one rounding, and exact. Of
// high + low, 31 bits, high has the upper 24; low corrects the product's last bits. Only fl rounds.
#pragma once

#include "kernels/core/tflite.h"

namespace octet {

// Below this shift, floats do for columns whose sums are all one output (gives_one_output), which
// are those of channels whose weights are negligible.
constexpr int32_t kLeastTfliteShift = -15;

// Whether all sums from lo to hi give one output, by its definition and by the floats that
// find_tflite_floats gives. The shift is at least -31 and below kLeastTfliteShift.
bool gives_one_output(int64_t lo, int64_t hi, int32_t multiplier, int32_t shift);

// Finds the rows of TfliteColumns' form kFloats or, where no output below zero counts, kFloatsUp.
// Returns false if there are none.
bool find_tflite_floats(int32_t multiplier, int32_t shift, bool negatives, float (&values)[3]);

}  // namespace octet
