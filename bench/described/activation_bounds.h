// Says between which bytes the results of an operator with a fused activation lie.
#pragma once

#include <optional>
#include <string>

#include "bench/machine/api.h"

namespace tool {

struct Bounds {
  int32_t least, most;
};
Bounds bounds_of_type(octet_type type);  // u8 or s8

// Of ONNX's outputs that end at these values; nullopt: they do not.
Bounds quantize_bounds(octet_type type, float scale, int32_t zero_point, std::optional<float> least,
                       std::optional<float> most);

// Of TFLite's fused activation: NONE, RELU, RELU6, RELU_N1_TO_1; throws of any other.
Bounds tflite_bounds(octet_type type, const std::string& activation, float scale,
                     int32_t zero_point);

}  // namespace tool
