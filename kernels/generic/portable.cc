// SPDX-License-Identifier: Apache-2.0
// The operations of tiers that need no build of their own.
#include "kernels/generic/portable.h"

#include "kernels/core/parts.h"
#include "kernels/generic/accumulator_init.h"
#include "kernels/generic/epilogue.h"
#include "kernels/generic/lhs_rows.h"
#include "kernels/generic/s16.h"

namespace octet {
const TierOps portable_ops = {init_tile,
                              apply_epilogue<int32_t>,
                              sum_rows,
                              quantize_rows_by<quantize_floats>,
                              measure_rows,
                              find_ends,
                              quantize_floats,
                              copy_windows,
                              OCTET_IF(INT16, split_s16, nullptr),
                              OCTET_IF(INT16, finish_s16, nullptr)};
}  // namespace octet
