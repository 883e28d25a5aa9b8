// SPDX-License-Identifier: Apache-2.0
// Reads caches and cores from Linux's files, for CPUs that have no instruction for it.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

struct Caches {
  size_t l1d_bytes, l2_bytes, l3_bytes;  // 0 = unknown; beside a known L2, 0 = none
};

// Number of CPUs whose design is known, and number of these that execute in order.
struct Cores {
  uint32_t known, in_order;
};

struct CpuFiles {
  Caches caches;  // of the first out-of-order core, or of the first core if there is none
  Cores cores;
  uint32_t identification;  // MIDR of that core, or the first MIDR that is known; 0 = unknown
};

// Reads the files under root, in the layout of /sys/devices/system/cpu. Where no CPU has a MIDR
// there, as under 32-bit kernels, its parts are read from cpuinfo, in the layout of /proc/cpuinfo;
// null = no such file. A missing or unreadable file is no error.
CpuFiles read_cpu_files(const char* root, uint32_t cpus, const char* cpuinfo = nullptr);

}  // namespace octet
