// Computes TFLite's AVERAGE_POOL_2D of int8 or uint8, to the byte of its reference kernel: the
// pixels of a window that are there, rounded half away from zero.
#pragma once

#include <cstdint>

#include "bench/functions/lines.h"

namespace tool {

struct TfliteAverage {
  octet_type type;      // of input and output, which are quantized alike: OCTET_S8 or OCTET_U8
  int32_t least, most;  // of the output, within its type
  Window window;        // each has 1 to kAveragePixels pixels of the input
};
constexpr size_t kAveragePixels = 1 << 23;  // the sum of so many bytes is within int32

// octet_network_function.run with a TfliteAverage as context. The output overlaps no input.
void run_tflite_average(void* context, const octet_network_call* call);

}  // namespace tool
