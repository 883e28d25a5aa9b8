// What Linux tells in files about the caches and the cores of CPUs that have no instruction for it.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

struct Caches {
  size_t l1d_bytes, l2_bytes, l3_bytes;  // 0 = unknown, or, beside a known L2, none
};

// CPUs whose design is known, and how many of them execute in order.
struct Cores {
  uint32_t known, in_order;
};

struct CpuFiles {
  Caches caches;  // of the first core that executes out of order, else of the first one
  Cores cores;
  uint32_t identification;  // the MIDR of that core, or of the first that has one; 0 = unknown
};

// root is /sys/devices/system/cpu, or as that. Files that are missing or say nothing of use are no
// error.
CpuFiles read_cpu_files(const char* root, uint32_t cpus);

}  // namespace octet
