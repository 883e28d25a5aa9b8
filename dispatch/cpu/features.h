// What the CPU and the operating system offer. Instructions are found by asking them directly, so
// that no library, no /proc and no /sys can break that; caches and cores may come from files, and
// are asked for only where they are needed: in a sandbox whoever opens a file may be killed.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "dispatch/cpu/files.h"
#include "kernels/core/depthwise_kernel.h"
#include "kernels/core/feature.h"
#include "kernels/core/isa.h"
#include "kernels/core/micro_kernel.h"
#include "octet/octet.h"

namespace octet {

struct CpuFeatures {
  IsaMask isas;  // tiers that it has all features of
  Caches caches;
  Cores cores = {};
  octet_cpu_design design = OCTET_DESIGN_UNKNOWN;
  // 512-bit shuffles have ports beside those of products, as on AMD's; Intel's share one.
  bool wide_shuffles = false;
  // Kernels that are chosen only if they pass (kOptional) have passed, all of them.
  bool trusts_optional = true;
  Features features = 0;  // for kernels that need more than their tier does

  size_t l1d_bytes() const { return caches.l1d_bytes ? caches.l1d_bytes : 32 * 1024; }
  size_t l2_bytes() const { return caches.l2_bytes ? caches.l2_bytes : 256 * 1024; }
  size_t l3_bytes() const { return caches.l3_bytes; }
  size_t last_level_bytes() const { return l3_bytes() ? l3_bytes() : l2_bytes(); }
  // Beside others those in order get less of the work, and it is planned for the others.
  bool in_order() const { return cores.known && cores.known == cores.in_order; }
};

inline bool supports(const CpuFeatures& cpu, const DepthwiseKernel& kernel) {
  return cpu.isas & mask_of(kernel.isa);
}
inline bool supports(const CpuFeatures& cpu, const MicroKernel& kernel) {
  return (cpu.isas & mask_of(kernel.isa)) && !(kernel.needs & ~cpu.features);
}

// Instructions: caches, cores and their design are left unknown, and no file is opened.
CpuFeatures detect_cpu();

struct Microarchitecture {
  Caches caches;
  Cores cores;
  octet_cpu_design design;
};
// May open files, unless built with OCTET_WITH_CPU_FILES=OFF.
Microarchitecture detect_microarchitecture();

// One word that tells designs of CPUs apart, and their revisions: "GenuineIntel-6-207-2",
// "arm-410fd034"; an "unknown" in it is what nobody tells. May open files, as
// detect_microarchitecture may.
constexpr size_t kCpuNameBytes = 64;
void name_cpu(char (*name)[kCpuNameBytes]);

}  // namespace octet
