// SPDX-License-Identifier: Apache-2.0
// Chooses the kernels of a product, its blocks and its tasks.
#include "operators/gemm/choice.h"

#include "dispatch/tables/kernels.h"
#include "kernels/core/assert.h"

namespace octet {

const MicroKernel* int8_kernel(const KernelName* name) {
  return name ? find(int8_kernels(), name->name) : nullptr;
}

namespace {

// True if the tiles for few rows cut a block into whole tiles, or a block holds all few rows.
bool whole_tiles(size_t block, const MicroKernel& few) {
  return block % few.mr == 0 || (few.m_max && few.m_max <= block);
}

// Whole panels of weights, and whole micro-panels of both kernels.
size_t columns_unit(const MicroKernel& many, const MicroKernel& few) {
  return larger(many.rhs_layout.width, larger(many.nr, few.nr));
}

}  // namespace

size_t block_rows(const CpuFeatures& cpu, const MicroKernel& kernel, size_t k) {
  constexpr size_t kLine = 64;  // of the output; the next micro-panel may go on in it
  const size_t row = k * kernel.lhs_element_bytes + kernel.sums_bytes(1) / kernel.mr + kLine,
               rows = cpu.l2_bytes() / 2 / row / kernel.mr * kernel.mr;
  return larger(rows, kernel.mr);
}

Selection choose_gemm(const CpuFeatures& cpu, const Problem& problem, const WeightFacts& facts,
                      const char* forced, Choice* choice) {
  const Selection many = select(cpu, problem, facts, forced);
  if (many.result != Selected::kOk) return many;
  Problem few = problem;
  few.m = 1;
  const MicroKernel& small = *select(cpu, few, facts, forced).kernel;
  OCTET_ASSERT(small.lhs_element_type == many.kernel->lhs_element_type);
  *choice = {};
  choice->layout = facts.layout;
  choice->kernel = find_kernel_name(many.kernel->name);
  choice->small_kernel = find_kernel_name(small.name);
  choice->block = block_rows(cpu, *many.kernel, problem.k);
  if (!whole_tiles(choice->block, small)) choice->small_kernel = choice->kernel;
  choice->pass = columns_of_pass({divide_up(problem.m, choice->block), problem.m * problem.k,
                                  problem.n, facts.layout.lane_bytes(problem.k),
                                  columns_unit(*many.kernel, small), cpu.last_level_bytes()});
  return many;
}

bool may_use(const Choice& c, const CpuFeatures& cpu, const Problem& problem,
             const WeightFacts& facts, const char** why) {
  const MicroKernel *const many = int8_kernel(c.kernel), *const few = int8_kernel(c.small_kernel);
  *why = c.algorithm != OCTET_CONV_AUTO ? "it is a convolution's"
         : !many || !few                ? "a kernel is not of bytes, or is missing"
         : !(c.layout == facts.layout)  ? "the weights have another layout"
         : c.layout.element_type == ElementType::kU8 && problem.rhs_type != ElementType::kU8
             ? "the weights are s8, and it leaves u8 as they are"
         : c.layout.is_4bit() != is_4bit(problem.rhs_type)
             ? "the weights have another number of bits"
         : !can_run(cpu, *many, problem, facts) || !can_run(cpu, *few, problem, facts)
             ? "a kernel cannot multiply these operands here"
         : many->lhs_element_type != few->lhs_element_type
             ? "its kernels want different signs of the lhs"
         : few != many && few->m_max == 0 ? "its kernel for few rows is one for any"
         : !c.block || c.block % many->mr || (few != many && !whole_tiles(c.block, *few))
             ? "its block is no multiple of its tiles' rows"
         : c.pass % columns_unit(*many, *few) ? "its pass is no multiple of its panels' columns"
         : c.cache_bytes                      ? "a product has no bands"
                                              : nullptr;
  return !*why;
}

}  // namespace octet
