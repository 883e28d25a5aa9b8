#include "kernels/simd/byte_sum.h"
#include "kernels/simd/init.h"
#include "kernels/simd/lhs_rows.h"
#include "kernels/x86/finish.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/row_sums.h"

namespace octet {
const TierOps avx2_ops = {init_tile,       finish_x86,   sum_rows_x86,  quantize_row, measure_rows,
                          quantize_floats, copy_windows, find_byte_sum, true};
}  // namespace octet
