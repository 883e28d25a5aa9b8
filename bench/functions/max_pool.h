// Takes the largest byte of each window and channel: TFLite's MAX_POOL_2D, ONNX's MaxPool, and,
// with windows of one pixel, bounds like Relu's.
#pragma once

#include <cstdint>

#include "bench/functions/lines.h"

namespace tool {

struct MaxPool {
  octet_type type;      // of input and output: OCTET_S8 or OCTET_U8
  int32_t least, most;  // of the output, within its type
  Window window;        // each has at least one pixel of the input
};

// octet_network_function.run with a MaxPool as context. The output overlaps no input.
void run_max_pool(void* context, const octet_network_call* call);

}  // namespace tool
