// What is compiled in, by name: refers to no kernel, so that asking does not link any.
#pragma once

#include <stddef.h>

#include "kernels/core/isa.h"

namespace octet {

IsaMask compiled_tiers();

struct KernelName {
  const char* name;
  Isa isa;
  bool forced_only;  // never chosen
};
const KernelName* kernel_name(size_t index);           // null past the last
const KernelName* find_kernel_name(const char* name);  // null if there is none
inline bool kernel_exists(const char* name) { return find_kernel_name(name); }

}  // namespace octet
