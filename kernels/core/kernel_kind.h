// SPDX-License-Identifier: Apache-2.0
// Names the kinds of kernels, one per kernel table.
#pragma once

#include <stdint.h>

namespace octet {

// The table of each kind is in dispatch/tables/kernels.h. int16 kernels serve Winograd. A depthwise
// kernel reads one input channel per output channel; a grouped one, in the same table, reads the
// few channels of its group.
enum class KernelKind : uint8_t { kInt8, kInt16, kDepthwise, kGrouped };

}  // namespace octet
