// Looks bytes up in a table of 256.
#pragma once

#include "kernels/generic/functions/elementwise.h"
#include "kernels/generic/functions/walk.h"

namespace octet {
namespace {

inline void look_up(void* plan, const octet_network_call* call) {
  const uint8_t* const table = ((const TablePlan*)plan)->table;
  const octet_network_image &in = call->inputs[0], &out = call->output;
  const bool dense = in.pixel == out.channels && out.pixel == out.channels;
  const size_t runs = dense ? 1 : out.w, bytes = dense ? out.w * out.channels : out.channels;
  for (size_t y = call->first; y < call->end; ++y) {
    const uint8_t* from = input_line(in, y);
    uint8_t* to = output_line(*call, y);
    for (size_t x = 0; x < runs; ++x, from += in.pixel, to += out.pixel)
      for (size_t i = 0; i < bytes; ++i) to[i] = table[from[i]];
  }
}

}  // namespace
}  // namespace octet
