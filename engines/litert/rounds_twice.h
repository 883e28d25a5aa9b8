// SPDX-License-Identifier: Apache-2.0
// Finds out how an interpreter's FULLY_CONNECTED rounds.
#pragma once

#include <tensorflow/lite/core/c/common.h>

#include <vector>

namespace octet::litert {

// Whether the FULLY_CONNECTED of these nodes rounds twice, as the reference kernel of LiteRT 1.2
// and before does: runs that kernel on a product of its own. A runtime does not tell its version:
// TfLiteVersion, where it can be called at all, has said 2.19.0 since before that kernel changed.
// False without such a node, and for optimized kernels, which round in another way. For a
// delegate's Prepare. Throws std::bad_alloc only.
bool rounds_twice(TfLiteContext* context, const std::vector<int>& nodes);

}  // namespace octet::litert
