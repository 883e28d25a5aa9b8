#pragma once

#include "dispatch/cpu_features.h"
#include "dispatch/error.h"

namespace octet {

// Puts the caches and the cores of a caller's machine in place of those found; of null, nothing.
// name: of the descriptor.
octet_status read_machine(const octet_machine* given, const char* name, CpuFeatures* cpu,
                          octet_error* error);

}  // namespace octet
