// SPDX-License-Identifier: Apache-2.0
// Selects the best kernel of a CPU for a product.
#include "dispatch/select/select.h"

#include "dispatch/tables/kernel_names.h"
#include "dispatch/tables/tiers.h"

namespace octet {
namespace {

// Whether the kernel multiplies these types at all.
bool in_family(const MicroKernel& kernel, ElementType lhs_type, const RhsLayout& rhs) {
  return (kernel.is(kAnyLhs) || lhs_type == kernel.lhs_element_type) &&
         kernel.rhs_layout.element_type == rhs.element_type &&
         kernel.rhs_layout.sparse() == rhs.sparse() && kernel.rhs_layout.is_4bit() == rhs.is_4bit();
}

bool reads(const MicroKernel& kernel, const WeightFacts& facts) {
  return kernel.rhs_layout == facts.layout && !(kernel.is(kNoInt8Min) && facts.has_int8_min);
}

// True if the CPU has the kernel's features and the kernel passed its self-test.
bool works(const CpuFeatures& cpu, const MicroKernel& kernel) {
  return supports(cpu, kernel) && (cpu.trusts_optional || !kernel.is(kOptional));
}

// True if a kernel that can run may also be chosen without being forced.
bool suits(const CpuFeatures& cpu, const Problem& problem, const MicroKernel& kernel) {
  return !kernel.is(kTestsOnly) && (cpu.in_order() || !kernel.is(kInOrder)) &&
         (kernel.m_max == 0 || problem.m <= kernel.m_max) &&
         (kernel.n_max == 0 || problem.n <= kernel.n_max) && problem.n >= kernel.n_min &&
         problem.k >= kernel.k_min;
}

}  // namespace

bool can_run(const CpuFeatures& cpu, const MicroKernel& kernel, const Problem& problem,
             const WeightFacts& facts) {
  return works(cpu, kernel) && in_family(kernel, problem.lhs_type, facts.layout) &&
         reads(kernel, facts);
}

Selection select(const KernelList& kernels, const CpuFeatures& cpu, const Problem& problem,
                 const WeightFacts& facts, const char* forced) {
  if (forced) {
    const MicroKernel* kernel = find(kernels, forced);
    if (!kernel && !kernel_exists(forced)) return {Selected::kUnknownName, nullptr};
    if (kernel && in_family(*kernel, problem.lhs_type, facts.layout))
      return {
          works(cpu, *kernel) && reads(*kernel, facts) ? Selected::kOk : Selected::kForcedUnusable,
          kernel};
  }
  for (const MicroKernel* kernel : kernels)
    if (suits(cpu, problem, *kernel) && can_run(cpu, *kernel, problem, facts))
      return {Selected::kOk, kernel};
  return {Selected::kNoKernel, nullptr};
}

const MicroKernel* gathering_s16(const KernelList& kernels, const CpuFeatures& cpu,
                                 const MicroKernel& kernel) {
  for (const MicroKernel* other : kernels)
    if (other->gather_s16 && works(cpu, *other) && other->tier_id == kernel.tier_id &&
        other->rhs_layout == kernel.rhs_layout)
      return other;
  return nullptr;
}

RhsLayout select_layout(const KernelList& kernels, const CpuFeatures& cpu, ElementType rhs_type,
                        const char* forced) {
  if (forced) {
    const MicroKernel* kernel = find(kernels, forced);
    // True for a kernel that reads u8 weights unflipped; it takes no s8 weights
    const bool raw_u8 = kernel && kernel->rhs_layout.element_type == ElementType::kU8;
    if (kernel && works(cpu, *kernel) && !kernel->rhs_layout.sparse() &&
        kernel->rhs_layout.is_4bit() == is_4bit(rhs_type) &&
        (!raw_u8 || rhs_type == ElementType::kU8))
      return kernel->rhs_layout;
  }
  return layout_of(best_of(cpu.tiers & compiled_tiers()), rhs_type);
}

RhsLayout select_sparse_layout(const KernelList& kernels, const CpuFeatures& cpu,
                               const RhsLayout& best, const char* forced) {
  const MicroKernel* const kernel = forced ? find(kernels, forced) : nullptr;
  return kernel && works(cpu, *kernel) && kernel->rhs_layout.sparse() ? kernel->rhs_layout : best;
}

}  // namespace octet
