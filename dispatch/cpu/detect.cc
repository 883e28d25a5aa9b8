// SPDX-License-Identifier: Apache-2.0
// Returns the CPU as read_cpu detects it. Tests link another file in place of this one.
#include "dispatch/cpu/features.h"

namespace octet {

CpuFeatures detect_cpu() { return read_cpu(); }

}  // namespace octet
