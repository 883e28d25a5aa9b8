// SPDX-License-Identifier: Apache-2.0
// Looks bytes up in a table of 256.
#pragma once

#include "kernels/generic/functions/elementwise.h"
#include "kernels/generic/functions/walk.h"

namespace octet {
namespace {

// Calls run(from, to, bytes) for all bytes of a call that lie side by side.
template <typename Run>
OCTET_INLINE inline void for_each_run(const octet_network_call& call, const Run& run) {
  const octet_network_image &in = call.inputs[0], &out = call.output;
  const bool dense = in.pixel == out.channels && out.pixel == out.channels;
  const size_t runs = dense ? 1 : out.w, bytes = dense ? out.w * out.channels : out.channels;
  for (size_t y = call.first; y < call.end; ++y) {
    const uint8_t* from = input_line(in, y);
    uint8_t* to = output_line(call, y);
    for (size_t x = 0; x < runs; ++x, from += in.pixel, to += out.pixel) run(from, to, bytes);
  }
}

inline void look_up(void* plan, const octet_network_call* call) {
  const uint8_t* const table = ((const TablePlan*)plan)->table;
  for_each_run(*call, [&](const uint8_t* from, uint8_t* to, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) to[i] = table[from[i]];
  });
}

}  // namespace
}  // namespace octet
