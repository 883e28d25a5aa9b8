// SPDX-License-Identifier: Apache-2.0
// Reads an octet_machine: the caller's caches and cores in place of the detected ones.
#include "dispatch/select/override.h"

#include <stdio.h>

#include "dispatch/api/struct_size.h"
#include "dispatch/select/machine.h"
#include "dispatch/tables/designs.h"

namespace octet {
namespace {

bool may_be_a_cache(size_t bytes) { return bytes >= 4096 && bytes <= (size_t)1 << 31; }

}  // namespace

octet_status read_machine(const octet_machine* given, const char* name, CpuFeatures* cpu,
                          octet_error* error) {
  if (!given) {
    add_microarchitecture(cpu);
    return OCTET_OK;
  }
  char full_name[32];
  snprintf(full_name, sizeof full_name, "%s.machine", name);
  CallerStruct<octet_machine> machine;
  OCTET_TRY(machine.read(given, full_name, error));
  if (machine->in_order != 0 && machine->in_order != 1)
    return fail(error, OCTET_UNKNOWN_ENUM, "%s.in_order is %d, neither 0 nor 1", full_name,
                machine->in_order);
  if (!find_design(machine->design))
    return fail(error, OCTET_UNKNOWN_ENUM, "%s.design is %d, not an octet_cpu_design", full_name,
                (int)machine->design);
  if (machine->tuning && !machine->l2_bytes && !machine->l3_bytes && !machine->in_order &&
      !machine->design) {
    add_microarchitecture(cpu);
    return OCTET_OK;
  }
  if (!may_be_a_cache(machine->l2_bytes))
    return fail(
        error, OCTET_BAD_SIZE,
        "%s.l2_bytes is %zu; it must be 4096 to 2^31 (without a second level: the size of "
        "the first)%s",
        full_name, machine->l2_bytes,
        machine->tuning ? "; with a tuning, a machine is described as a whole or not at all" : "");
  if (machine->l3_bytes && !may_be_a_cache(machine->l3_bytes))
    return fail(error, OCTET_BAD_SIZE,
                "%s.l3_bytes is %zu; it must be 4096 to 2^31, or 0 where there is none", full_name,
                machine->l3_bytes);
  cpu->caches = {0, machine->l2_bytes, machine->l3_bytes};
  cpu->cores = {1, machine->in_order ? 1u : 0u};
  cpu->design = machine->design;
  return OCTET_OK;
}

}  // namespace octet
