// Describes how kernels requantize accumulators to 8 bits while they are still in registers.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

// Kernels use this only where create has certified max|acc| * scale < 2^31 (for kRequantizes16, its
// smaller limit; in TFLite mode, the condition of TfliteColumns).
struct Requantization {
  int32_t zero_point, lo, hi;
  bool dst_u8;
  // Float mode: 0. TFLite mode: the scale pointer is the first row of TfliteColumns, and this is
  // its `apart`
  size_t tflite_apart = 0;
  bool tflite_right_only = false;  // TfliteColumns::right_only
};

}  // namespace octet
