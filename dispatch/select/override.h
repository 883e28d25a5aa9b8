// SPDX-License-Identifier: Apache-2.0
// Takes the machine of a descriptor: the caller's or this one.
#pragma once

#include "dispatch/api/error.h"
#include "dispatch/cpu/features.h"

namespace octet {

// Sets caches and cores from the caller's struct, or, if it is null, from this machine; only then
// is this machine looked up. name: of the descriptor, for messages.
octet_status read_machine(const octet_machine* given, const char* name, CpuFeatures* cpu,
                          octet_error* error);

}  // namespace octet
