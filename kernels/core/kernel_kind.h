#pragma once

#include <stdint.h>

namespace octet {

// What a kernel multiplies: there is a table of each kind (dispatch/tables/kernels.h). Words are
// s16, for Winograd; depthwise kernels read one input channel per output channel, grouped ones, in
// the same table, the few of its group.
enum class KernelKind : uint8_t { kInt8, kInt16, kDepthwise, kGrouped };

}  // namespace octet
