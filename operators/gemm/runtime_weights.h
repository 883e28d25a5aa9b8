// SPDX-License-Identifier: Apache-2.0
// Weights that come with a run: a task packs its columns into its workspace, or multiplies few rows
// by them where they lie.
#pragma once

#include "operators/gemm/loops.h"

namespace octet {

// Packs columns [n0, n1) of the matrix's weights.
Weights pack_weights(const GemmRun& run, const MicroKernel& kernel, const GemmMatrix& matrix,
                     size_t n0, size_t n1, uint8_t* workspace);

// The element type of the lhs in RuntimeOps::multiply; that of the weights is s8.
constexpr ElementType kFewRowsLhs = ElementType::kU8;

// Multiplies all rows of a matrix, which `block` describes, by the task's columns.
void multiply_few_rows(const GemmRun& run, const GemmMatrix& matrix, const GemmTask& task,
                       const Block& block, uint8_t* workspace);

}  // namespace octet
