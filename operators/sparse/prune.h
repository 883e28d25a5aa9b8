// SPDX-License-Identifier: Apache-2.0
// Prunes weights to 2:4 by magnitude.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/packed_layout.h"
#include "octet/sparse.h"

namespace octet {

// Of `count` weights, `stride` apart, each group keeps the two that are farthest from the zero
// point, of equals the first. `to` may be `from`. Adds to *loss.
void prune_groups(const uint8_t* from, uint8_t* to, size_t stride, size_t count, ElementType type,
                  int32_t zero_point, octet_sparse_loss* loss);

}  // namespace octet
