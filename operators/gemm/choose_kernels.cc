// SPDX-License-Identifier: Apache-2.0
// Fills in a builder's choice: the caller's, else a measured one from a tuning, else that of
// choice.cc for this machine, within the limits of descriptor and environment.
#include "dispatch/api/error.h"
#include "dispatch/select/machine.h"
#include "dispatch/tables/scale_block_kernels.h"
#include "dispatch/tables/tiers.h"
#include "operators/gemm/builder.h"
#include "operators/gemm/tuning.h"

namespace octet {
namespace {

// The best tier's. OCTET_KERNEL and desc.kernel name no such kernel, but must name one.
octet_status choose_scale_block_kernel(GemmBuilder* builder) {
  const KernelLimits& limits = builder->limits;
  if (builder->requested)
    return refuse_choice("the weights are in scale blocks, of which a tier has one kernel",
                         builder->error);
  if (limits.forced && !kernel_exists(limits.forced))
    return refuse_forced(limits, gemm_machine(), Selected::kUnknownName);
  const ScaleBlockKernel& kernel = scale_block_kernel_of(best_of(limits.cpu.tiers));
  builder->scale_block_kernel = &kernel;
  builder->kernel = builder->small_kernel = &kernel.kernel;
  builder->choice.layout = layout_of(builder->blob.read_geometry<ScaleBlocksGeometry>());
  builder->choice.block = block_rows(limits.cpu, kernel.kernel, builder->desc.k);
  return OCTET_OK;
}

}  // namespace

octet_status choose_kernels(GemmBuilder* builder) {
  const octet_gemm_desc& d = builder->desc;
  const Machine machine = gemm_machine();
  OCTET_TRY(read_limits(&builder->limits, machine));
  if (builder->has_scale_blocks()) return choose_scale_block_kernel(builder);
  const CpuFeatures& cpu = builder->limits.cpu;
  const char* const forced = builder->limits.forced;
  const ElementType rhs_type = element_type_of(d.rhs_type);
  // A row of s16 values is two rows of bytes, which are made as the kernel wants them
  const bool s16 = builder->has_s16();
  const Problem problem = {s16 ? 2 * d.m_max : d.m_max, d.n, d.k,
                           builder->epilogue.lhs_element_type, rhs_type};
  // Nothing is known about run-time weights: assume the worst.
  const WeightFacts facts =
      builder->has_blob
          ? WeightFacts{builder->blob.format->layout, builder->blob.header.has_int8_min != 0}
      : builder->requested ? WeightFacts{builder->requested->layout, true}
                           : WeightFacts{select_layout(cpu, rhs_type, forced), true};
  if (builder->requested && s16)
    return refuse_choice("the lhs is s16, whose products have no other choice", builder->error);
  if (builder->requested) {
    const char* why;
    if (!builder->has_blob && builder->requested->layout.sparse())
      return refuse_choice("nobody knows whether weights that come with a run are sparse",
                           builder->error);
    if (!may_use(*builder->requested, cpu, problem, facts, &why))
      return refuse_choice(why, builder->error);
    builder->choice = *builder->requested;
  } else if (!forced && !s16) {
    OCTET_TRY(look_up_gemm(d, builder->limits.environment, cpu, problem, facts, &builder->choice,
                           &builder->measured, builder->error));
  }
  if (!builder->requested && !builder->measured) {
    const Selection selection = choose_gemm(cpu, problem, facts, forced, &builder->choice);
    OCTET_TRY(refuse_forced(builder->limits, machine, selection.result));
    if (selection.result == Selected::kNoKernel)
      return fail(
          builder->error, OCTET_WRONG_TIER,
          "desc.packed has form %s, of tier %s, which no usable kernel reads; pack it for %s",
          builder->blob.format->name, isa_name(smallest_tier(*builder->blob.format)),
          isa_name(smallest_tier(*find_format_of(select_layout(cpu, rhs_type, nullptr)))));
    // Each pass would quantize the rows again; columns that are packed in a task are not many.
    if (quantizes(d.lhs_quant) || !builder->has_blob || s16) builder->choice.pass = 0;
  }
  builder->kernel = int8_kernel(builder->choice.kernel);
  builder->small_kernel = int8_kernel(builder->choice.small_kernel);
  // Kernels that read bytes in place do not take s16 values
  const MicroKernel* const gathering =
      s16 && !forced ? gathering_s16(int8_kernels(), cpu, *builder->kernel) : nullptr;
  if (gathering) {
    builder->kernel = gathering;
    builder->choice.kernel = find_kernel_name(gathering->name);
    builder->choice.block = block_rows(cpu, *gathering, d.k);
  }
  // A kernel for one row multiplies no s16 value
  if (builder->takes_s16() || (s16 && builder->small_kernel->m_max < 2))
    builder->small_kernel = builder->kernel;
  return OCTET_OK;
}

}  // namespace octet
