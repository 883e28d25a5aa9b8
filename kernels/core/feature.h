// SPDX-License-Identifier: Apache-2.0
// The CPU features that tiers and kernels need.
#pragma once

#include <stdint.h>

namespace octet {

// One bit per feature: instructions, with the registers that the operating system saves for them.
enum Feature : uint32_t {
  kHasAvx2 = 1,  // and F16C
  kHasAvxVnni = 2,
  kHasAvx512 = 4,  // F, BW, DQ, VL
  kHasAvx512Vnni = 8,
  kHasNeon = 16,
  kHasDotprod = 32,
  kHasI8mm = 64,
  kHasSse41 = 128,
  kHasAvx512Vbmi = 256,
  kHasAmxInt8 = 512,  // AMX-TILE and AMX-INT8, which the process may use
  kHasAvxVnniInt8 = 1024,
  kHasSve256I8mm = 2048,  // SVE of 256 bits, and its products of int8
  kHasSme = 4096,
};
using Features = uint32_t;

// Features that a process has only once it has asked the operating system.
constexpr Features kFeaturesOnRequest = kHasAmxInt8;

}  // namespace octet
