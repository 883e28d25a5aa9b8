// 2:4: of every group of four weights along the depth two may be other than zero. A short last
// group counts as filled up with zeros.
#pragma once

#include <stddef.h>

namespace octet {

constexpr size_t kGroupWeights = 4, kGroupKept = 2;

}  // namespace octet
