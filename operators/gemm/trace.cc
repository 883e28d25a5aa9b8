// SPDX-License-Identifier: Apache-2.0
// Writes the trace lines of OCTET_VERBOSE.
#include "operators/gemm/trace.h"

#include <stdio.h>

#include "dispatch/tables/tiers.h"

namespace octet {

void trace_demotions(TierMask demoted) {
  for (size_t i = 0; const Tier* tier = nth_tier(i); ++i)
    if (has(demoted, *tier)) fprintf(stderr, "octet,demoted,%s\n", tier->name);
}

void trace(const char* event, const octet_gemm& gemm, size_t m, size_t n, size_t k, size_t batch,
           double microseconds) {
  fprintf(stderr, "octet,%s,gemm,%zux%zux%zu,%zu,%s:%s:%s,%s,gemm,%.3f,%s\n", event, m, n, k, batch,
          octet_type_name(gemm.lhs_type), octet_type_name(gemm.rhs_type),
          octet_type_name(gemm.dst_type), kernel_name(gemm.plan, m), microseconds,
          origin_s16(gemm.measured));
}

}  // namespace octet
