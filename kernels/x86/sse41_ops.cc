// SPDX-License-Identifier: Apache-2.0
// The operations of the SSE4.1 tier besides multiplying.
#include "kernels/core/parts.h"
#include "kernels/generic/accumulator_init.h"
#include "kernels/generic/lhs_rows.h"
#include "kernels/generic/s16.h"
#include "kernels/x86/kernels.h"
#include "kernels/xsimd/epilogue.h"

namespace octet {
const TierOps sse41_ops = {init_tile,
                           epilogue_by_vectors,
                           sum_rows,
                           quantize_rows_by<quantize_floats>,
                           measure_rows,
                           find_ends,
                           quantize_floats,
                           copy_windows,
                           OCTET_IF(INT16, split_s16, nullptr),
                           OCTET_IF(INT16, finish_s16, nullptr)};
}  // namespace octet
