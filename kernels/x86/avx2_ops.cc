// The operations of the AVX2 tiers besides multiplying.
#include "kernels/generic/accumulator_init.h"
#include "kernels/generic/lhs_rows.h"
#include "kernels/generic/tflite_add.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/epilogue.h"
#include "kernels/x86/shared/row_sums.h"
#include "kernels/x86/shared/store_tile_ymm.h"

namespace octet {
void avx2_requantize(const Tile& t, const int32_t* acc, size_t acc_stride) {
  requantize_tile(t, acc, acc_stride);
}

const TierOps avx2_ops = {init_tile,    epilogue_x86,    sum_rows_x86,
                          quantize_row, measure_rows,    quantize_floats,
                          copy_windows, find_tflite_add, true};
}  // namespace octet
