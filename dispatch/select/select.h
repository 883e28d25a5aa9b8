// Which kernel runs a product. Pure: the CPU is an argument, so that the choice for a machine that
// nobody owns is a unit test.
#pragma once

#include "dispatch/cpu/features.h"
#include "kernels/core/micro_kernel.h"

namespace octet {

struct Problem {
  size_t m, n, k;
  bool lhs_u8, rhs_u8;
};

// What packing learned about the weights.
struct WeightFacts {
  RhsLayout layout;
  bool has_int8_min;  // -128 occurs in s8
};

enum class Selected { kOk, kNoKernel, kUnknownName, kForcedUnusable };

struct Selection {
  Selected result;
  const MicroKernel* kernel;
};

// The best kernel of `cpu` that reads the facts' layout. `forced` names a kernel, or is null; it
// binds its own family only: where the named kernel multiplies other types than the problem's, or
// sparse weights instead of dense ones, the best kernel is chosen as if nothing had been forced.
// Where the types are its own but the CPU or the weights are not, the answer is kForcedUnusable.
Selection select(const CpuFeatures& cpu, const Problem& problem, const WeightFacts& facts,
                 const char* forced);

// Whether the CPU runs the kernel, and it multiplies these types and reads these weights.
bool can_run(const CpuFeatures& cpu, const MicroKernel& kernel, const Problem& problem,
             const WeightFacts& facts);

// The layout that weights are packed in when the caller leaves the tier to us: the best kernel's,
// or the forced one's.
RhsLayout select_layout(const CpuFeatures& cpu, bool rhs_u8, const char* forced);
// Likewise of 2:4 sparse ones, where `best` is the best one.
RhsLayout select_sparse_layout(const CpuFeatures& cpu, const RhsLayout& best, const char* forced);

}  // namespace octet
