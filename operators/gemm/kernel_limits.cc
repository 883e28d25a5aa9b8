// SPDX-License-Identifier: Apache-2.0
// Finds the kernels that the descriptor, the environment and the machine let an operator use.
#include "operators/gemm/kernel_limits.h"

#include "dispatch/api/error.h"
#include "dispatch/select/override.h"
#include "dispatch/tables/kernel_names.h"
#include "dispatch/tables/tiers.h"
#include "operators/gemm/trace.h"

namespace octet {

octet_status read_limits(KernelLimits* limits, const Machine& machine) {
  const bool limited = limits->max_isa != OCTET_ISA_AUTO;
  const TierId most = (TierId)limits->max_isa;
  if (limited && !(tiers_of_this_architecture() & mask_of(most)))
    return fail(limits->error, OCTET_UNSUPPORTED,
                "desc.max_isa is %s, not a tier of this architecture", isa_name(most));
  OCTET_TRY(read_environment(&limits->environment, limits->error));
  if (limits->environment.verbose) trace_demotions(machine.demoted);
  limits->cpu = machine.cpu;
  OCTET_TRY(read_machine(limits->machine, "desc", &limits->cpu, limits->error));
  const bool chosen = limited || limits->kernel;
  if (!chosen) limits->cpu.tiers &= limits->environment.allowed;
  if (limited) limits->cpu.tiers &= tiers_within(most);
  if (!limits->cpu.tiers)
    return fail(limits->error, OCTET_UNSUPPORTED,
                "no tier is left: those that desc.max_isa and OCTET_MAX_ISA allow have failed the "
                "self-test on this machine");
  limits->forced = chosen ? limits->kernel : limits->environment.kernel;
  return OCTET_OK;
}

octet_status refuse_forced(const KernelLimits& limits, const Machine& machine, Selected result) {
  if (result == Selected::kUnknownName)
    return fail(limits.error, OCTET_UNKNOWN_KERNEL,
                "desc.kernel '%.64s' does not exist; octet_get_kernel_info lists them",
                limits.forced);
  if (result != Selected::kForcedUnusable) return OCTET_OK;
  const KernelName& kernel = *find_kernel_name(limits.forced);
  const TierMask tier = mask_of(kernel.tier_id);
  return fail(
      limits.error, OCTET_KERNEL_UNUSABLE, "%s names '%s', but %s",
      limits.kernel ? "desc.kernel" : "OCTET_KERNEL", limits.forced,
      kernel.needs & ~machine.cpu.features ? "this CPU does not support it"
      : limits.cpu.tiers & tier
          ? "it cannot read these weights: pack them for it, or without -128 if it asks for that"
      : machine.cpu.tiers & tier ? "the tier limit (desc.max_isa or OCTET_MAX_ISA) excludes it"
      : machine.demoted & tier   ? "its tier failed the self-test on this machine"
                                 : "this CPU does not support it");
}

}  // namespace octet
