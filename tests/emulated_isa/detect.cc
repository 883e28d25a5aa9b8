// SPDX-License-Identifier: Apache-2.0
// Takes the place of dispatch/cpu/detect.cc in a test program: OCTET_EMULATE in the environment
// names a tier. With AVXVNNI the library detects a CPU with AVX2, emulated AVX-VNNI and emulated
// AVX-VNNI-INT8, and with nothing newer; with AMXINT8, this CPU and emulated AMX-INT8; else this
// CPU.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "dispatch/cpu/environment.h"
#include "dispatch/cpu/features.h"
#include "dispatch/cpu/permission.h"
#include "dispatch/tables/kernel_names.h"
#include "dispatch/tables/tiers.h"
#include "emulated_isa/handler.h"
#include "emulated_isa/hide_own.h"

namespace {

using octet::CpuFeatures;
using octet::mask_of;
using octet::TierId;
using octet::TierMask;

TierMask wanted() {
  const char* value = std::getenv("OCTET_EMULATE");
  if (!value || !*value) return 0;
  if (std::strcmp(value, "AVXVNNI") == 0) return mask_of(TierId::kAvxVnni);
  if (std::strcmp(value, "AMXINT8") == 0) return mask_of(TierId::kAmxInt8);
  std::fprintf(stderr, "OCTET_EMULATE is '%s'; valid: AVXVNNI, AMXINT8\n", value);
  std::exit(EXIT_FAILURE);
}

// Returns the tiers whose instructions are emulated.
TierMask start() {
  const TierMask cpu = octet::read_cpu().tiers, emulated = wanted();
  const bool tiles = emulated == mask_of(TierId::kAmxInt8);
  if (!emulated || !(cpu & mask_of(tiles ? TierId::kAvx512Vnni : TierId::kAvx2))) return 0;
  if (tiles && cpu & emulated) return 0;
  emulated_isa::install();
  if (cpu & emulated) emulated_isa::hide_own();
  return emulated;
}

// An operating system that always gives permission, or never with OCTET_EMULATE_REFUSAL.
bool permits() { return !std::getenv("OCTET_EMULATE_REFUSAL"); }

}  // namespace

octet::CpuFeatures octet::detect_cpu() {
  static const TierMask emulated = start();
  CpuFeatures cpu = read_cpu();
  if (emulated == mask_of(TierId::kAmxInt8)) {
    cpu.features =
        permitted(cpu.features | kHasAmxInt8, compiled_tiers() & allowed_tiers(), permits);
    cpu.tiers = tiers_of(cpu.features);
  } else if (emulated) {
    cpu.features = tier_of(TierId::kAvxVnni).needs | kHasAvxVnniInt8;
    cpu.tiers = tiers_of(cpu.features);
  }
  return cpu;
}
