#include "kernels/simd/portable.h"

#include "kernels/simd/finish.h"
#include "kernels/simd/init.h"
#include "kernels/simd/lhs_rows.h"

namespace octet {
const TierOps portable_ops = {init_tile,    finish_tile,     sum_rows,    quantize_row,
                              measure_rows, quantize_floats, copy_windows};
}  // namespace octet
