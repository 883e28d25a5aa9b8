// SPDX-License-Identifier: Apache-2.0
// Runs bodies that turn elements of one type into elements of another, over the lines of a call.
#pragma once

#include <string.h>

#include "kernels/generic/functions/elementwise.h"

namespace octet {

// octet_network_function.run by a plan's member `body`, which takes counts that kConverted divides.
// The last elements of a run, fewer than that, go through copies.
template <typename From, typename To, typename Plan, auto body>
void run_conversion(void* plan, const octet_network_call* call) {
  const Plan& p = *(const Plan*)plan;
  const octet_network_image &in = call->inputs[0], &out = call->output;
  const bool dense =
      in.pixel == out.channels * sizeof(From) && out.pixel == out.channels * sizeof(To);
  const size_t runs = dense ? 1 : out.w, count = dense ? out.w * out.channels : out.channels;
  const size_t whole = count / kConverted * kConverted, rest = count - whole;
  From last_from[kConverted] = {};
  To last_to[kConverted];
  for (size_t y = call->first; y < call->end; ++y)
    for (size_t x = 0; x < runs; ++x) {
      const From* from = (const From*)((const uint8_t*)octet_network_line(&in, y) + x * in.pixel);
      To* to = (To*)((uint8_t*)octet_network_line(&out, y) + x * out.pixel);
      if (whole) (p.*body)(p, from, to, whole);
      if (!rest) continue;
      memcpy(last_from, from + whole, rest * sizeof(From));
      (p.*body)(p, last_from, last_to, kConverted);
      memcpy(to + whole, last_to, rest * sizeof(To));
    }
}

}  // namespace octet
