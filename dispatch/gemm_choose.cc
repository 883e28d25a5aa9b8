// From the descriptor, the environment, the machine and the weights to kernels.
#include "dispatch/error.h"
#include "dispatch/gemm_draft.h"
#include "dispatch/kernel_table.h"
#include "dispatch/machine.h"
#include "dispatch/select.h"
#include "dispatch/trace.h"

namespace octet {

octet_status choose_kernels(Draft* draft) {
  const octet_gemm_desc& d = draft->desc;
  octet_error* error = draft->error;
  if (d.max_isa != OCTET_ISA_AUTO && !(kArchitecture & mask_of((Isa)d.max_isa)))
    return fail(error, OCTET_UNSUPPORTED, "desc.max_isa is %s, not a tier of this architecture", isa_name((Isa)d.max_isa));
  OCTET_TRY(read_environment(&draft->environment, error));
  const Machine machine = this_machine();
  if (draft->environment.verbose) trace_demotions(machine.demoted);
  CpuFeatures cpu = machine.cpu;
  const IsaMask usable = cpu.isas;
  // A descriptor that limits the tier or names the kernel beats both variables: they cannot turn its choice into an error.
  const bool chosen = d.max_isa != OCTET_ISA_AUTO || d.kernel;
  if (!chosen) cpu.isas &= draft->environment.allowed;
  if (d.max_isa != OCTET_ISA_AUTO) cpu.isas &= up_to((Isa)d.max_isa);
  const char* forced = chosen ? d.kernel : draft->environment.kernel;

  const bool rhs_u8 = d.rhs_type == OCTET_U8;
  // Nothing is known about run-time weights: assume the worst.
  const WeightFacts facts = draft->has_blob ? WeightFacts{blob_layout(draft->blob), draft->blob.has_least != 0}
                                            : WeightFacts{select_layout(cpu, rhs_u8, forced), true};
  Problem problem = {d.m_max, d.n, d.k, draft->lhs_u8, rhs_u8};
  const Selection selection = select(cpu, problem, facts, forced);
  problem.m = 1;
  const Selection small = select(cpu, problem, facts, forced);
  switch (selection.result) {
    case Selected::kOk:
      draft->kernel = selection.kernel;
      draft->small_kernel = small.kernel;
      return OCTET_OK;
    case Selected::kUnknownName: return fail(error, OCTET_UNKNOWN_KERNEL, "desc.kernel '%.64s' does not exist; octet_get_kernel_info lists them", forced);
    case Selected::kForcedUnusable:
      return fail(error, OCTET_KERNEL_UNUSABLE, "kernel '%s' is forced, but %s", forced,
                  supports(cpu, *selection.kernel) ? "it cannot read these weights: pack them for it, or without -128 if it asks for that"
                  : usable & mask_of(selection.kernel->isa) ? "the tier limit (desc.max_isa or OCTET_MAX_ISA) excludes it"
                                                            : "this CPU does not support it");
    case Selected::kNoKernel: break;
  }
  return fail(error, OCTET_WRONG_TIER, "desc.packed has the layout of tier %s (panels of %d x %d), which no usable kernel reads; pack it for %s",
              isa_name(smallest_isa(facts.layout)), (int)facts.layout.width, (int)facts.layout.kr,
              isa_name(smallest_isa(select_layout(cpu, rhs_u8, nullptr))));
}

}  // namespace octet
