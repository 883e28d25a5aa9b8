// How accumulators become 8 bits while they are still in registers.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

// The last steps that fit in registers. Used only where create has certified max|acc| * scale <
// 2^31, or what kRequantizes16 asks for, or in TFLite mode what TfliteColumns does.
struct Requantization {
  int32_t zero_point, lo, hi;
  bool dst_u8;
  // TFLite mode: the scales are TfliteColumns' first row, and the rows so far apart. Float mode: 0
  size_t tflite_apart = 0;
  bool tflite_right_only = false;  // as TfliteColumns has it
};

}  // namespace octet
