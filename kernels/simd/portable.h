// The epilogue and the row work compiled for the baseline: what a kernel names in its table row
// when its ISA needs no build of its own. On aarch64 the baseline is NEON already.
#pragma once

#include "kernels/core/finish.h"
#include "kernels/core/lhs_rows.h"
#include "kernels/core/winograd.h"

namespace octet {
extern const RowOps portable_row_ops;
void portable_finish(const Finish& finish, const FinishTile& tile);
extern const WinogradOps portable_winograd;
}  // namespace octet
