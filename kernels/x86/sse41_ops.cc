#include "kernels/simd/finish.h"
#include "kernels/simd/init.h"
#include "kernels/simd/lhs_rows.h"
#include "kernels/x86/kernels.h"

namespace octet {
const TierOps sse41_ops = {init_tile,    finish_tile,     sum_rows,    quantize_row,
                           measure_rows, quantize_floats, copy_windows};
}  // namespace octet
