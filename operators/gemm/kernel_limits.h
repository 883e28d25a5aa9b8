// SPDX-License-Identifier: Apache-2.0
// KernelLimits: the kernels that a descriptor, the environment and the machine let an operator use.
#pragma once

#include "dispatch/cpu/environment.h"
#include "dispatch/select/choice.h"
#include "dispatch/select/machine.h"
#include "dispatch/select/select.h"

namespace octet {

struct KernelLimits {
  octet_isa max_isa;
  const char* kernel;            // that the descriptor names, or null
  const octet_machine* machine;  // that the descriptor describes, or null
  octet_error* const error;

  // read_limits fills in the rest.
  Environment environment = {};
  CpuFeatures cpu = {};          // the descriptor's machine, less the tiers that no run may use
  const char* forced = nullptr;  // the kernel that the descriptor or the environment names

  template <typename Desc>
  KernelLimits(const Desc& d, octet_error* e)
      : max_isa(d.max_isa), kernel(d.kernel), machine(d.machine), error(e) {}
};

// A descriptor that limits the tier or names the kernel beats both variables of the environment.
octet_status read_limits(KernelLimits* limits, const Machine& machine);
// Fails, and says why, if a kernel was forced but may not run.
octet_status refuse_forced(const KernelLimits& limits, const Machine& machine, Selected result);

}  // namespace octet
