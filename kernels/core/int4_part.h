// SPDX-License-Identifier: Apache-2.0
// The size of a part of weights of 4 bits that a kernel decodes itself: it fits the L1 cache.
#pragma once

#include <stdint.h>

namespace octet {

// The last bytes of Decoder::room.
constexpr uint32_t kInt4PartBytes = 16384;

}  // namespace octet
