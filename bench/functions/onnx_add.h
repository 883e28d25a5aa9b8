// Computes ONNX's additions of two s8 or u8 tensors of one shape, in the two arithmetics that ONNX
// Runtime has for them.
#pragma once

#include <cstdint>

#include "octet/network.h"

namespace tool {

struct OnnxAdd {
  octet_type type;         // of both inputs and of the output: OCTET_S8 or OCTET_U8
  float scales[3];         // of the inputs and of the output: positive
  int32_t zero_points[3];  // of both inputs and of the output
  int32_t least, most;     // of the output, within its type
  // s8 is computed as u8 whose zero points are 128 larger, as ONNX Runtime re-types it between
  // QuantizeLinear and DequantizeLinear. It changes how floats round.
  bool as_unsigned;
};

// QLinearAdd as ONNX Runtime computes it on x86 with AVX2, which adds the zero point before it
// rounds. With the ratios ra = scale a / scale c and rb = scale b / scale c, all in f32, fma
// rounding once:
//   fixed = zero c - fma(ra, zero a, rb * zero b)
//   c = round half to even(fma(a, ra, fma(b, rb, fixed)))
// Results are ONNX Runtime's as long as they stay within int32 before they are clamped.
// octet_network_function.run with an OnnxAdd as context. The output overlaps no input.
void run_qlinear_add(void* context, const octet_network_call* call);

// DequantizeLinear of both, Add, QuantizeLinear, each step in f32: the standard's, and ONNX
// Runtime's where an activation stands between Add and QuantizeLinear. as_unsigned changes nothing
// here.
void run_float_add(void* context, const octet_network_call* call);

}  // namespace tool
