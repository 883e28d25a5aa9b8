// What the library in a test program detects: with OCTET_EMULATE=AVXVNNI in the environment, a CPU
// with AVX2, with AVX-VNNI, which is emulated, and with nothing newer; else this CPU.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "dispatch/cpu/features.h"
#include "dispatch/tables/tiers.h"
#include "emulated_isa/handler.h"
#include "emulated_isa/hide_own.h"

// The linker gives the library's calls of octet::detect_cpu to the second (--wrap).
namespace octet {
CpuFeatures real_detect_cpu() __asm__("__real__ZN5octet10detect_cpuEv");
CpuFeatures wrapped_detect_cpu() __asm__("__wrap__ZN5octet10detect_cpuEv");
}  // namespace octet

namespace {

using octet::Isa;
using octet::IsaMask;
using octet::mask_of;

IsaMask wanted() {
  const char* value = std::getenv("OCTET_EMULATE");
  if (!value || !*value) return 0;
  if (std::strcmp(value, "AVXVNNI") == 0) return mask_of(Isa::kAvxVnni);
  std::fprintf(stderr, "OCTET_EMULATE is '%s'; valid: AVXVNNI\n", value);
  std::exit(EXIT_FAILURE);
}

// Returns the tiers whose instructions are emulated.
IsaMask start() {
  const IsaMask cpu = octet::real_detect_cpu().isas, emulated = wanted();
  if (!emulated || !(cpu & mask_of(Isa::kAvx2))) return 0;
  emulated_isa::install();
  if (cpu & emulated) emulated_isa::hide_own();
  return emulated;
}

}  // namespace

octet::CpuFeatures octet::wrapped_detect_cpu() {
  static const IsaMask emulated = start();
  CpuFeatures cpu = real_detect_cpu();
  if (emulated) cpu.isas = (cpu.isas & tiers_within(Isa::kAvx2)) | emulated;
  return cpu;
}
