#include "kernels/simd/portable.h"

#include "kernels/simd/finish.h"
#include "kernels/simd/lhs_rows.h"

namespace octet {
const RowOps portable_row_ops = {sum_rows, quantize_row, copy_windows};
void portable_finish(const Finish& finish, const FinishTile& tile) { finish_tile(finish, tile); }
}  // namespace octet
