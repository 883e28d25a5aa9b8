// The table is the architecture: one row per kernel drives selection, forcing, tests and benches.
#pragma once

#include <string.h>

#include "dispatch/cpu_features.h"
#include "kernels/core/depthwise_kernel.h"

namespace octet {

template <typename Kernel>
struct Table {
  const Kernel* const* rows;
  size_t count;
  const Kernel* const* begin() const { return rows; }
  const Kernel* const* end() const { return rows + count; }
};
template <typename Kernel>
const Kernel* find(const Table<Kernel>& table, const char* name) {  // null if there is none
  for (const Kernel* kernel : table)
    if (strcmp(kernel->name, name) == 0) return kernel;
  return nullptr;
}
using KernelList = Table<MicroKernel>;
using DepthwiseList = Table<DepthwiseKernel>;

// Every kernel compiled in, best first: those that multiply bytes (GEMM, convolution), those that
// multiply s16 (Winograd), and the depthwise ones.
KernelList all_kernels();
KernelList word_kernels();
DepthwiseList depthwise_kernels();

const MicroKernel* find_kernel(const char* name);  // among all_kernels; null if there is none
bool kernel_exists(const char* name);              // of any kind

bool supports(const CpuFeatures& cpu, const MicroKernel& kernel);
bool supports(const CpuFeatures& cpu, const DepthwiseKernel& kernel);

// Layouts of all tiers, of this architecture and of others, so that weights can be packed for any
// tier anywhere.
RhsLayout layout_of(Isa isa, bool rhs_u8);
RhsLayout word_layout_of(Isa isa);       // of word_kernels()
RhsLayout depthwise_layout_of(Isa isa);  // the same for all
// That reads the layout; kScalar also stands for layouts that only tests use
Isa smallest_isa(const RhsLayout& layout);

const char* isa_name(Isa isa);  // the value of OCTET_MAX_ISA

}  // namespace octet
