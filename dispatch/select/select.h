// SPDX-License-Identifier: Apache-2.0
// Selects the kernel of a product. Pure: the CPU is an argument, so unit tests cover machines that
// nobody owns.
#pragma once

#include "dispatch/cpu/features.h"
#include "dispatch/tables/kernels.h"

namespace octet {

struct Problem {
  size_t m, n, k;
  ElementType lhs_type, rhs_type;
};

// Facts about the weights that packing found.
struct WeightFacts {
  RhsLayout layout;
  bool has_int8_min;  // -128 occurs in s8
};

enum class Selected { kOk, kNoKernel, kUnknownName, kForcedUnusable };

struct Selection {
  Selected result;
  const MicroKernel* kernel;
};

// The best kernel of the list and of `cpu` that reads the facts' layout. `forced` names a kernel,
// or is null. It binds its own family only: if that kernel is not in the list, or multiplies other
// types than the problem's, sparse weights in place of dense ones, or weights of 4 bits in place of
// others, the best kernel is chosen as if nothing were forced. If its types match but the CPU or
// the weights do not, the result is kForcedUnusable.
Selection select(const KernelList& kernels, const CpuFeatures& cpu, const Problem& problem,
                 const WeightFacts& facts, const char* forced);

// True if the CPU runs the kernel, and the kernel multiplies these types and reads these weights.
bool can_run(const CpuFeatures& cpu, const MicroKernel& kernel, const Problem& problem,
             const WeightFacts& facts);

// The kernel of the list and of `cpu` that gathers s16 values for the tier and weights of `kernel`,
// or null.
const MicroKernel* gathering_s16(const KernelList& kernels, const CpuFeatures& cpu,
                                 const MicroKernel& kernel);

// The layout that weights are packed in when the caller leaves the tier to us: the best kernel's,
// or the forced one's.
RhsLayout select_layout(const KernelList& kernels, const CpuFeatures& cpu, ElementType rhs_type,
                        const char* forced);
// The layout that 2:4 sparse weights are packed in: `best`, or the forced sparse kernel's.
RhsLayout select_sparse_layout(const KernelList& kernels, const CpuFeatures& cpu,
                               const RhsLayout& best, const char* forced);

// The same for products of matrices: of int8_kernels().
Selection select(const CpuFeatures& cpu, const Problem& problem, const WeightFacts& facts,
                 const char* forced);
RhsLayout select_layout(const CpuFeatures& cpu, ElementType rhs_type, const char* forced);
RhsLayout select_sparse_layout(const CpuFeatures& cpu, const RhsLayout& best, const char* forced);

}  // namespace octet
