// Computes TFLite's ADD of two int8 or uint8 tensors of one shape, to the byte of its reference
// kernel.
#pragma once

#include <cstdint>

#include "octet/network.h"

namespace tool {

struct TfliteAdd {
  octet_type type;         // of both inputs and of the output: OCTET_S8 or OCTET_U8
  int32_t zero_points[3];  // of the inputs and of the output
  // The first input is the product. Multipliers in [2^30, 2^31), or 0, shifts in [-31, 0]:
  // octet_tflite_add makes them.
  octet_residual add;
  int32_t least, most;  // of the output, within its type
};

// octet_network_function.run with a TfliteAdd as context; one output line reads that line of both
// inputs. The output overlaps no input.
void run_tflite_add(void* context, const octet_network_call* call);

}  // namespace tool
