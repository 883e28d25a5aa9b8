// SPDX-License-Identifier: Apache-2.0
// Functions that describe the library and the machine.
#include "dispatch/api/struct_size.h"
#include "dispatch/cpu/environment.h"
#include "dispatch/select/machine.h"
#include "dispatch/tables/designs.h"
#include "dispatch/tables/kernel_names.h"
#include "operators/common/check.h"

#define OCTET_TEXT2(x) #x
#define OCTET_TEXT(x) OCTET_TEXT2(x)

using namespace octet;

const char* octet_version(void) {
  return OCTET_TEXT(OCTET_VERSION_MAJOR) "." OCTET_TEXT(OCTET_VERSION_MINOR) "." OCTET_TEXT(
      OCTET_VERSION_PATCH);
}

const char* octet_type_name(octet_type type) {
  switch (type) {
    case OCTET_S8: return "s8";
    case OCTET_U8: return "u8";
    case OCTET_S32: return "s32";
    case OCTET_F32: return "f32";
    case OCTET_S4: return "s4";
    case OCTET_U4: return "u4";
    case OCTET_F16: return "f16";
    case OCTET_S16: return "s16";
  }
  return "unknown";
}

const char* octet_isa_name(octet_isa isa) {
  const Tier* const tier = find_tier((int)isa);
  return tier ? tier->name : isa == OCTET_ISA_AUTO ? "AUTO" : "unknown";
}

const char* octet_cpu_design_name(octet_cpu_design design) {
  const CpuDesign* const known = find_design((int)design);
  return known ? known->name : "unknown";
}

octet_status octet_get_cpu_info(octet_cpu_info* info, octet_error* error) {
  OCTET_TRY(check_out(info, "info", error));
  Environment environment;
  OCTET_TRY(read_environment(&environment, error));
  const Machine machine = this_machine();
  const Microarchitecture found = this_microarchitecture();
  octet_cpu_info out = OCTET_CPU_INFO_INIT;
  out.compiled_isas = machine.compiled;
  out.detected_isas = machine.detected;
  out.demoted_isas = machine.demoted;
  out.best_isa = (octet_isa)best_of(machine.cpu.tiers & environment.allowed);
  out.l1d_bytes = found.caches.l1d_bytes;
  out.l2_bytes = found.caches.l2_bytes;
  out.l3_bytes = found.caches.l3_bytes;
  out.known_cores = found.cores.known;
  out.in_order_cores = found.cores.in_order;
  out.design = found.design;
  return give(out, info);
}

octet_status octet_get_kernel_info(size_t index, octet_kernel_info* info, octet_error* error) {
  OCTET_TRY(check_out(info, "info", error));
  const KernelName* const kernel = kernel_name(index);
  if (!kernel) {
    size_t count = 0;
    while (kernel_name(count)) ++count;
    return fail(error, OCTET_BAD_SIZE, "index is %zu; there are %zu kernels", index, count);
  }
  octet_kernel_info out = OCTET_KERNEL_INFO_INIT;
  out.name = kernel->name;
  out.isa = (octet_isa)kernel->tier_id;
  const CpuFeatures& cpu = this_machine().cpu;
  out.usable = (cpu.tiers & mask_of(kernel->tier_id)) && !(kernel->needs & ~cpu.features);
  out.tests_only = kernel->forced_only;
  return give(out, info);
}
