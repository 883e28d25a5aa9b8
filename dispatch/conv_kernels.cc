#include "dispatch/conv_kernels.h"

#include <string.h>

#include "dispatch/kernel_table.h"

namespace octet {
namespace {

const RhsLayout& layout_of_kernel(const MicroKernel& kernel) { return kernel.rhs_layout; }
const RhsLayout& layout_of_kernel(const DepthwiseKernel& kernel) { return kernel.layout; }

// The forced kernel if it is of this kind, else the best that this CPU runs and that reads the layout.
template <typename Kernel>
Selected pick(const Table<Kernel>& table, const CpuFeatures& cpu, const RhsLayout& layout, const char* forced, const Kernel** picked) {
  for (const Kernel* kernel : table) {
    const bool usable = (cpu.isas & mask_of(kernel->isa)) && layout_of_kernel(*kernel) == layout;
    const bool named = forced && strcmp(kernel->name, forced) == 0;
    if (named) {
      *picked = kernel;
      return usable ? Selected::kOk : Selected::kForcedUnusable;
    }
    if (usable && !(kernel->flags & kTestsOnly) && !*picked) *picked = kernel;
  }
  if (forced && !kernel_exists(forced)) return Selected::kUnknownName;
  return *picked ? Selected::kOk : Selected::kNoKernel;
}

}  // namespace

ConvKernel select_conv(octet_conv_algorithm algorithm, const CpuFeatures& cpu, const Problem& problem, const WeightFacts& facts, const char* forced) {
  ConvKernel kernel = {Selected::kNoKernel, nullptr, nullptr};
  switch (family_of(algorithm)) {
    case ConvFamily::kBytes: {
      const Selection selection = select(cpu, problem, facts, forced);
      kernel.result = selection.result;
      kernel.micro = selection.kernel;
      break;
    }
    case ConvFamily::kWords: kernel.result = pick(word_kernels(), cpu, facts.layout, forced, &kernel.micro); break;
    case ConvFamily::kDepthwise: kernel.result = pick(depthwise_kernels(), cpu, facts.layout, forced, &kernel.depthwise); break;
  }
  return kernel;
}

bool has_kernel(octet_conv_algorithm algorithm, const char* name) {
  const auto named = [name](const auto& table) {
    for (const auto* kernel : table)
      if (strcmp(kernel->name, name) == 0) return true;
    return false;
  };
  switch (family_of(algorithm)) {
    case ConvFamily::kBytes: return named(all_kernels());
    case ConvFamily::kWords: return named(word_kernels());
    case ConvFamily::kDepthwise: return named(depthwise_kernels());
  }
  return false;
}

const char* kernel_name_for(octet_conv_algorithm algorithm, const CpuFeatures& cpu, const WeightFacts& facts, const char* forced) {
  const Problem problem = {2, 1, 1, true, facts.layout.domain == Domain::kU8};
  const ConvKernel kernel = select_conv(algorithm, cpu, problem, facts, forced);
  return kernel.result == Selected::kOk ? kernel.name() : nullptr;
}

}  // namespace octet
