// What the CPU and the operating system offer. Asks them directly, so that no library, no /proc and
// no /sys can break detection.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/isa.h"

namespace octet {

// What tiers need: instructions, and registers that the operating system saves. Bits.
enum Feature : uint32_t {
  kHasAvx2 = 1,
  kHasAvxVnni = 2,
  kHasAvx512 = 4,  // F, BW, DQ, VL
  kHasAvx512Vnni = 8,
  kHasNeon = 16,
  kHasDotprod = 32,
  kHasI8mm = 64,
};
using Features = uint32_t;

struct CpuFeatures {
  IsaMask isas;                          // tiers that it has all features of
  size_t l1d_bytes, l2_bytes, l3_bytes;  // 0 = unknown

  size_t l2_or_typical() const { return l2_bytes ? l2_bytes : 512 * 1024; }
};

CpuFeatures detect_cpu();

}  // namespace octet
