// States the numeric contract from the accumulator to the output, written without the library, and
// what a check against it says.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "octet/octet.h"

namespace tool {

struct Verdict {
  bool right = true;
  std::string first_error;  // where, what is there, what should be
};

// The way from an accumulator to an output.
struct OutputStage {
  octet_type type;
  int32_t zero_point;  // s8, u8
  bool relu;
  float least = -INFINITY, most = INFINITY;  // of other activations: outputs of 8 bits
};

// Of a column: a float, or TFLite's number, which may be 0.
struct Factor {
  float scale;
  int32_t multiplier, shift;
  bool tflite;
};

// A residual's value, and how it is added.
struct Addend {
  octet_residual by;
  int32_t value;
};

// fl(acc) * scale, with a single rounding each, then the clamp; nearbyint rounds half to even.
// TFLite mode: two roundings, halves up and then halves away from zero; its ADD has the
// product as an integer. s32: the accumulator itself.
double contract_output(const OutputStage& stage, int64_t acc, const Factor& factor,
                       const Addend* addend = nullptr);

double value_at(octet_type type, const void* dst, size_t i);

}  // namespace tool
