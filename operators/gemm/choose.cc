// From the descriptor, the environment, the machine and the weights to kernels.
#include "dispatch/api/error.h"
#include "dispatch/select/machine.h"
#include "dispatch/select/override.h"
#include "dispatch/tables/tiers.h"
#include "operators/gemm/builder.h"
#include "operators/gemm/trace.h"
#include "operators/gemm/tuning.h"

namespace octet {

octet_status read_limits(GemmBuilder* builder, const Machine& machine, CpuFeatures* cpu,
                         const char** forced) {
  const octet_gemm_desc& d = builder->desc;
  if (d.max_isa != OCTET_ISA_AUTO && !(tiers_of_this_architecture() & mask_of((Isa)d.max_isa)))
    return fail(builder->error, OCTET_UNSUPPORTED,
                "desc.max_isa is %s, not a tier of this architecture", isa_name((Isa)d.max_isa));
  OCTET_TRY(read_environment(&builder->environment, builder->error));
  if (builder->environment.verbose) trace_demotions(machine.demoted);
  *cpu = machine.cpu;
  OCTET_TRY(read_machine(d.machine, "desc", cpu, builder->error));
  const bool chosen = d.max_isa != OCTET_ISA_AUTO || d.kernel;
  if (!chosen) cpu->isas &= builder->environment.allowed;
  if (d.max_isa != OCTET_ISA_AUTO) cpu->isas &= tiers_within((Isa)d.max_isa);
  if (!cpu->isas)
    return fail(builder->error, OCTET_UNSUPPORTED,
                "no tier is left: those that desc.max_isa and OCTET_MAX_ISA allow have failed the "
                "self-test on this machine");
  *forced = chosen ? d.kernel : builder->environment.kernel;
  builder->cpu = *cpu;
  return OCTET_OK;
}

octet_status refuse_forced(const GemmBuilder& builder, const Machine& machine,
                           const CpuFeatures& cpu, Selected result, const char* forced, Isa isa) {
  if (result == Selected::kUnknownName)
    return fail(builder.error, OCTET_UNKNOWN_KERNEL,
                "desc.kernel '%.64s' does not exist; octet_get_kernel_info lists them", forced);
  if (result != Selected::kForcedUnusable) return OCTET_OK;
  return fail(
      builder.error, OCTET_KERNEL_UNUSABLE, "%s names '%s', but %s",
      builder.desc.kernel ? "desc.kernel" : "OCTET_KERNEL", forced,
      cpu.isas & mask_of(isa)
          ? "it cannot read these weights: pack them for it, or without -128 if it asks for that"
      : machine.cpu.isas & mask_of(isa)
          ? "the tier limit (desc.max_isa or OCTET_MAX_ISA) excludes it"
      : machine.demoted & mask_of(isa) ? "its tier failed the self-test on this machine"
                                       : "this CPU does not support it");
}

octet_status choose_kernels(GemmBuilder* builder) {
  const octet_gemm_desc& d = builder->desc;
  CpuFeatures cpu;
  const char* forced;
  const Machine machine = this_machine();
  OCTET_TRY(read_limits(builder, machine, &cpu, &forced));
  const bool rhs_u8 = d.rhs_type == OCTET_U8;
  const Problem problem = {d.m_max, d.n, d.k, builder->lhs_u8, rhs_u8};
  // Nothing is known about run-time weights: assume the worst.
  const WeightFacts facts =
      builder->has_blob
          ? WeightFacts{builder->blob.format->layout, builder->blob.header.has_int8_min != 0}
      : builder->given ? WeightFacts{builder->given->layout, true}
                       : WeightFacts{select_layout(cpu, rhs_u8, forced), true};
  if (builder->given) {
    const char* why;
    if (!builder->has_blob && builder->given->layout.sparse())
      return refuse_choice("nobody knows whether weights that come with a run are sparse",
                           builder->error);
    if (!may_use(*builder->given, cpu, problem, facts, &why))
      return refuse_choice(why, builder->error);
    builder->choice = *builder->given;
  } else if (!forced) {
    OCTET_TRY(look_up_gemm(d, builder->environment, cpu, problem, facts, &builder->choice,
                           &builder->measured, builder->error));
  }
  if (!builder->given && !builder->measured) {
    const Selection selection = choose_gemm(cpu, problem, facts, forced, &builder->choice);
    OCTET_TRY(refuse_forced(*builder, machine, cpu, selection.result, forced,
                            selection.kernel ? selection.kernel->isa : kPortableIsa));
    if (selection.result == Selected::kNoKernel)
      return fail(
          builder->error, OCTET_WRONG_TIER,
          "desc.packed has form %s, of tier %s, which no usable kernel reads; pack it for %s",
          builder->blob.format->name, isa_name(smallest_isa(*builder->blob.format)),
          isa_name(smallest_isa(*find_format_of(select_layout(cpu, rhs_u8, nullptr)))));
    // Each pass would quantize the rows again; columns that are packed in a task are not many.
    if (d.lhs_quant == OCTET_LHS_SYMMETRIC || d.lhs_quant == OCTET_LHS_ASYMMETRIC ||
        !builder->has_blob)
      builder->choice.pass = 0;
  }
  builder->kernel = int8_kernel(builder->choice.kernel);
  builder->small_kernel = int8_kernel(builder->choice.small_kernel);
  return OCTET_OK;
}

}  // namespace octet
