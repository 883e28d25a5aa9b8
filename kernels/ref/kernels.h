// The portable kernels, and the row work and epilogue for kernels whose ISA has no version of its own.
#pragma once

#include "kernels/core/micro_kernel.h"

namespace octet {
extern const MicroKernel scalar_u8s8_4x4x4;
extern const MicroKernel scalar_u8s8_3x5x2;

extern const RowOps portable_row_ops;
void portable_finish(const Finish& finish, const FinishTile& tile);
}  // namespace octet
