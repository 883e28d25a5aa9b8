// SPDX-License-Identifier: Apache-2.0
// Looks bytes up in a table of 256, a vector at a time.
#pragma once

#include "kernels/generic/functions/look_up.h"
#include "kernels/x86/functions/vector.h"
#include "kernels/x86/shared/look_up.h"

namespace octet {
namespace {

inline void look_up_x86(void* plan, const octet_network_call* call) {
  const TablePlan& p = *(const TablePlan*)plan;
  const TableRows table = {p.rows};
  for_each_run(*call, [&](const uint8_t* from, uint8_t* to, size_t bytes) {
    size_t i = 0;
    const auto some = [&](auto vectors) OCTET_INLINE {
      for (; i + vectors * kVector <= bytes; i += vectors * kVector) {
        Vector x[vectors];
        unroll<vectors>([&](auto v) OCTET_INLINE { x[v] = load(from + i + v * kVector); });
        table.look_up(x);
        unroll<vectors>([&](auto v) OCTET_INLINE { store(to + i + v * kVector, x[v]); });
      }
    };
    some(Int<2>{});
    some(Int<1>{});
    for (; i < bytes; ++i) to[i] = p.table[from[i]];
  });
}

}  // namespace
}  // namespace octet
