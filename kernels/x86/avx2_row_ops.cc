#include "kernels/simd/finish.h"
#include "kernels/simd/lhs_rows.h"
#include "kernels/x86/kernels.h"

namespace octet {
const RowOps avx2_row_ops = {sum_rows, quantize_row, copy_windows};
void avx2_finish(const Finish& finish, const FinishTile& tile) { finish_tile(finish, tile); }
}  // namespace octet
