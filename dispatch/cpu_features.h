// What the CPU and the operating system offer. Asks them directly, so that no library, no /proc and
// no /sys can break detection.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/micro_kernel.h"

namespace octet {

using IsaMask = uint32_t;  // bit (int)isa
constexpr IsaMask mask_of(Isa isa) { return 1u << (int)isa; }
// The families' values do not overlap, so smaller is enough
constexpr IsaMask up_to(Isa isa) { return (2u << (int)isa) - 1; }

// The tiers that a CPU of the architecture we are compiled for could have.
#if defined(__x86_64__)
constexpr IsaMask kArchitecture = mask_of(Isa::kScalar) | mask_of(Isa::kAvx2) |
                                  mask_of(Isa::kAvxVnni) | mask_of(Isa::kAvx512Vnni);
#elif defined(__aarch64__)
constexpr IsaMask kArchitecture =
    mask_of(Isa::kScalar) | mask_of(Isa::kNeon) | mask_of(Isa::kDotprod) | mask_of(Isa::kI8mm);
#else
constexpr IsaMask kArchitecture = mask_of(Isa::kScalar);
#endif

struct CpuFeatures {
  IsaMask isas;
  size_t l1d_bytes, l2_bytes, l3_bytes;  // 0 = unknown
};

CpuFeatures detect_cpu();

}  // namespace octet
