// SPDX-License-Identifier: Apache-2.0
// A run's arguments with every default filled in, for the checks and for the tasks.
#pragma once

#include "operators/common/check.h"
#include "operators/gemm/loops.h"
#include "operators/gemm/object.h"

namespace octet {

// One operand over the whole batch. A matrix takes `span` bytes from its first to its last, gaps
// between rows included; matrices are `step` bytes apart or where the array points.
struct Operand {
  const char* name;
  const void* data;
  const void* const* array;
  octet_type type;
  size_t count, span = 0, step = 0;

  bool absent() const { return !data && !array; }
  const uint8_t* at(size_t i) const {
    return array ? (const uint8_t*)array[i] : absent() ? nullptr : (const uint8_t*)data + i * step;
  }
  Extent extent(size_t i) const { return extent_of(at(i), span); }
};

struct Call {
  const octet_gemm_args& args;
  GemmRun run;
  Operand lhs, rhs, residual, dst;

  const GemmSizes& sizes() const { return run.schedule.sizes; }
  bool has_arrays() const { return lhs.array || rhs.array || residual.array || dst.array; }
};

// Refuses operands that share bytes which they may not share, and null pointers in their arrays, in
// O(batch * log batch). Matrices of an unordered pointer array are sorted in the workspace, which
// must have been checked where overlap_scratch_bytes is not 0.
size_t overlap_scratch_bytes(size_t batch);
octet_status check_overlap(const octet_gemm& gemm, const Call& call, octet_error* error);

}  // namespace octet
