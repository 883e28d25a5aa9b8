#pragma once

#include "dispatch/api/error.h"
#include "dispatch/cpu/features.h"

namespace octet {

// The caches and the cores of a caller's machine; of null, those of this one, which only then are
// looked for. name: of the descriptor.
octet_status read_machine(const octet_machine* given, const char* name, CpuFeatures* cpu,
                          octet_error* error);

}  // namespace octet
