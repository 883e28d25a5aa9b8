// Computes ONNX Runtime's QLinearAveragePool and QLinearGlobalAveragePool of s8 or u8, which it
// replaces AveragePool and GlobalAveragePool between DequantizeLinear and QuantizeLinear by.
#pragma once

#include <cstdint>

#include "bench/functions/lines.h"

namespace tool {

struct OnnxAverage {
  octet_type type;         // of input and output: OCTET_S8 or OCTET_U8
  float scales[2];         // of input and output: positive
  int32_t zero_points[2];  // of both
  int32_t least, most;     // of the output, within its type
  bool as_unsigned;        // as in OnnxAdd
  Window window;           // each has 1 to kAveragePixels pixels of the input, which alone count
};

// All in f32, each operation rounding once: the window's (x - zero point) * scale are added in the
// order of lines and pixels to 0, divided by their number and by the output's scale, the zero point
// is added, and the sum rounded half to even. Padding is not counted.
// octet_network_function.run with an OnnxAverage as context. The output overlaps no input.
void run_qlinear_average(void* context, const octet_network_call* call);

// A window that is the whole image, without padding: the integer sum of x - zero point, rounded to
// f32, times scale / (the output's scale * the number of pixels), rounded half to even; then the
// zero point is added.
void run_qlinear_global_average(void* context, const octet_network_call* call);

}  // namespace tool
