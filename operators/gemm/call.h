// A run's arguments with every default filled in: what the checks look at and what the tasks read.
#pragma once

#include "operators/common/check.h"
#include "operators/gemm/object.h"

namespace octet {

// One operand over the whole batch: matrices of `span` bytes from first to last, gaps between rows
// included, that are `step` bytes apart or wherever the array points.
struct Operand {
  const char* name;
  const void* data;
  const void* const* array;
  octet_type type;
  size_t count, span, step;

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

  bool has_arrays() const { return lhs.array || rhs.array || residual.array || dst.array; }
};

// Which of the run's operands share bytes that they may not share, in O(batch * log batch); also
// checks their pointers. Matrices of pointer arrays that are in no order are sorted, in `scratch`,
// which the caller provides where overlap_scratch_bytes is not 0 and which is checked first.
size_t overlap_scratch_bytes(size_t batch);
octet_status check_overlap(const octet_gemm& gemm, const Call& call, octet_error* error);

}  // namespace octet
