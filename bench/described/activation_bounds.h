// Computes the range of bytes of an operator with a fused activation.
#pragma once

#include <optional>
#include <string>

#include "bench/machine/api.h"

namespace tool {

struct Bounds {
  int32_t least, most;
};
Bounds bounds_of_type(octet_type type);  // u8 or s8

// The bounds of ONNX's outputs that end at these values; nullopt: no bound.
Bounds quantize_bounds(octet_type type, float scale, int32_t zero_point, std::optional<float> least,
                       std::optional<float> most);

// The bounds of TFLite's fused activation: NONE, RELU, RELU6, RELU_N1_TO_1; throws for others.
Bounds tflite_bounds(octet_type type, const std::string& activation, float scale,
                     int32_t zero_point);

}  // namespace tool
