// SPDX-License-Identifier: Apache-2.0
// States the numeric contract from the accumulator to the output, without the library, and the
// verdict of a check.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "octet/octet.h"

namespace tool {

struct Verdict {
  bool right = true;
  std::string first_error;  // place, value, expected value
};

// The way from an accumulator to an output.
struct OutputStage {
  octet_type type;
  int32_t zero_point;  // s8, u8
  bool relu;
  float least = -INFINITY, most = INFINITY;  // other activations' bounds, for 8-bit outputs
};

// A column's factor: a float, TFLite's numbers, of which the multiplier may be 0, or a double.
struct Factor {
  float scale;
  int32_t multiplier, shift;
  bool tflite;
  double in_double = 0;  // 0: one of the others
};

// A residual's value, and its parameters.
struct Addend {
  octet_residual by;
  int32_t value;
};

// fl(acc) * scale, with a single rounding each, then the clamp; nearbyint rounds half to even.
// TFLite mode: two roundings, halves up and then halves away from zero; its ADD has the
// product as an integer. Double mode: halves away from zero. s32: the accumulator itself.
double contract_output(const OutputStage& stage, int64_t acc, const Factor& factor,
                       const Addend* addend = nullptr);

double value_at(octet_type type, const void* dst, size_t i);

}  // namespace tool
