// The table is the architecture: one row per kernel drives selection, forcing, tests and benches.
#pragma once

#include "dispatch/cpu_features.h"

namespace octet {

struct KernelList {
  const MicroKernel* const* rows;
  size_t count;
  const MicroKernel* const* begin() const { return rows; }
  const MicroKernel* const* end() const { return rows + count; }
};

// Every kernel compiled in, best first.
KernelList all_kernels();

const MicroKernel* find_kernel(const char* name);  // null if there is none

bool supports(const CpuFeatures& cpu, const MicroKernel& kernel);

// Layouts of all tiers, of this architecture and of others, so that weights can be packed for any tier anywhere.
RhsLayout layout_of(Isa isa, bool rhs_u8);
Isa smallest_isa(const RhsLayout& layout);  // that reads the layout; kScalar also stands for layouts that only tests use

const char* isa_name(Isa isa);  // the value of OCTET_MAX_ISA

}  // namespace octet
