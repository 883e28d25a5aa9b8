// Multiplies words (s16) by packed weights, with the kernels of bytes.
#pragma once

#include "kernels/core/sections.h"
#include "operators/gemm/loops.h"

namespace octet {

// The part of a task's workspace for the plan's words, `columns` wide: rows of bytes and sums.
void lay_out_words(const GemmPlan& plan, const MicroKernel& kernel, size_t columns, size_t k,
                   Sections* sections, GemmSections* at);

// All rows and columns of a task, of one matrix. packed: index of its weights.
void multiply_words(const GemmRun& run, const MicroKernel& kernel, const GemmMatrix& matrix,
                    size_t packed, const GemmTask& task, uint8_t* workspace);

}  // namespace octet
