// Takes the place of dispatch/cpu/detect.cc in a test program: with OCTET_EMULATE=AVXVNNI in the
// environment the library detects a CPU with AVX2, with emulated AVX-VNNI and with nothing newer;
// else this CPU.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "dispatch/cpu/features.h"
#include "dispatch/tables/tiers.h"
#include "emulated_isa/handler.h"
#include "emulated_isa/hide_own.h"

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
  const IsaMask cpu = octet::read_cpu().isas, emulated = wanted();
  if (!emulated || !(cpu & mask_of(Isa::kAvx2))) return 0;
  emulated_isa::install();
  if (cpu & emulated) emulated_isa::hide_own();
  return emulated;
}

}  // namespace

octet::CpuFeatures octet::detect_cpu() {
  static const IsaMask emulated = start();
  CpuFeatures cpu = read_cpu();
  if (emulated) cpu.isas = (cpu.isas & tiers_within(Isa::kAvx2)) | emulated;
  return cpu;
}
