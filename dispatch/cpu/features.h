// SPDX-License-Identifier: Apache-2.0
// Detects the features of the CPU and the operating system. Instructions are found by CPUID or
// hwcaps alone, so no library, /proc or /sys can break that. Caches and cores may come from files
// and are looked up only where needed: a sandbox may kill a process that opens a file.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "dispatch/cpu/files.h"
#include "kernels/core/depthwise_kernel.h"
#include "kernels/core/feature.h"
#include "kernels/core/micro_kernel.h"
#include "kernels/core/tier_id.h"
#include "octet/octet.h"

namespace octet {

struct CpuFeatures {
  TierMask tiers;  // tiers whose features the CPU has
  Caches caches;
  Cores cores = {};
  octet_cpu_design design = OCTET_DESIGN_UNKNOWN;
  // 512-bit shuffles have other ports than products (AMD). On Intel's CPUs both share a port.
  bool wide_shuffles = false;
  // All optional kernels (kOptional) passed the self-test.
  bool trusts_optional = true;
  Features features = 0;  // for kernels that need more than their tier does

  size_t l1d_bytes() const { return caches.l1d_bytes ? caches.l1d_bytes : 32 * 1024; }
  size_t l2_bytes() const { return caches.l2_bytes ? caches.l2_bytes : 256 * 1024; }
  size_t l3_bytes() const { return caches.l3_bytes; }
  size_t last_level_bytes() const { return l3_bytes() ? l3_bytes() : l2_bytes(); }
  // True if all known cores execute in order. On big.LITTLE the big cores count: they get most of
  // the work.
  bool in_order() const { return cores.known && cores.known == cores.in_order; }
};

inline bool supports(const CpuFeatures& cpu, const DepthwiseKernel& kernel) {
  return cpu.tiers & mask_of(kernel.tier_id);
}
inline bool supports(const CpuFeatures& cpu, const MicroKernel& kernel) {
  return (cpu.tiers & mask_of(kernel.tier_id)) && !(kernel.needs & ~cpu.features);
}

// Reads the features and the tiers of the CPU. Caches, cores and their design stay unknown, and no
// file is opened.
CpuFeatures read_cpu();

// The CPU that this process acts on: read_cpu's answer. It is a function of a file of its own, so
// that a test links one that emulates instructions in its place.
CpuFeatures detect_cpu();

struct Microarchitecture {
  Caches caches;
  Cores cores;
  octet_cpu_design design = OCTET_DESIGN_UNKNOWN;
};
// May open files, unless built with OCTET_WITH_CPU_FILES=OFF.
Microarchitecture detect_microarchitecture();

// One word that identifies the CPU's design and revision: "GenuineIntel-6-207-2", "arm-410fd034". A
// part that the system does not report is "unknown". May open files, as detect_microarchitecture
// may.
constexpr size_t kCpuNameBytes = 64;
void name_cpu(char (*name)[kCpuNameBytes]);

}  // namespace octet
