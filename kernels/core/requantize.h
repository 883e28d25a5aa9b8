// Describes how kernels requantize accumulators to 8 bits while they are still in registers.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/element_type.h"

namespace octet {

// Kernels use this only where create has certified max|acc| * scale < 2^31 (for kRequantizes16, its
// smaller limit; in TFLite mode, the condition of TfliteColumns).
struct Requantization {
  int32_t zero_point, lo, hi;
  ElementType dst_type;  // kS8 or kU8
  // TFLite mode: the scales are TfliteColumns' first row, and the rows so far apart. Float mode: 0
  size_t tflite_apart = 0;
  bool tflite_right_only = false;  // TfliteColumns::right_only
};

}  // namespace octet
