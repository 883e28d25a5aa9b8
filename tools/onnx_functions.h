// ONNX's additions and averages of 8 bits, line by line: what lies between DequantizeLinear and
// QuantizeLinear, in floats.
#pragma once

#include <optional>

#include "described.h"

namespace tool {

struct Bounds {
  int32_t least, most;
};
Bounds bounds_of_type(octet_type type);  // u8 or s8
// Of outputs that end at these values; nullopt: they do not.
Bounds quantize_bounds(octet_type type, float scale, int32_t zero_point, std::optional<float> least,
                       std::optional<float> most);

// Set what is to be run. All else is set, scales too.
void make_float_addition(DescribedFunction* function);
void make_float_average(DescribedFunction* function);

}  // namespace tool
