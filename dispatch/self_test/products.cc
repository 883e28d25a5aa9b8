// SPDX-License-Identifier: Apache-2.0
// The self-test of the code that only products of matrices use: kernels of 4 bits, and work on
// weights that come with a run.
#include "dispatch/self_test/self_test.h"
#include "dispatch/tables/runtime_ops.h"
#include "dispatch/tables/scale_block_kernels.h"
#include "kernels/core/parts.h"

namespace octet {

TierMask failing_matrix_tiers(const CpuFeatures& cpu) {
  TierMask looked_at = 0, failing = 0;
  for (const MicroKernel* kernel : int8_kernels()) {
    const TierMask tier = mask_of(kernel->tier_id);
    if (!supports(cpu, *kernel)) continue;
    if (!(looked_at & tier)) {
      [[maybe_unused]] const RuntimeOps* const runtime = runtime_ops_of(kernel->tier_id);
      if (OCTET_IF(RUNTIME_WEIGHTS, (runtime && !passes(*runtime)), false) ||
          OCTET_IF(INT4, !passes(scale_block_kernel_of(kernel->tier_id)), false))
        failing |= tier;
    }
    looked_at |= tier;
    if (kernel->rhs_layout.is_4bit() && !passes(*kernel)) failing |= tier;
  }
  return failing;
}

}  // namespace octet
