// Prunes weights to 2:4 by magnitude.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/packed_layout.h"

namespace octet {

// Sums over one output channel, of weights minus their zero point.
struct PruneLoss {
  uint64_t weights, removed;
  uint64_t magnitude, magnitude_removed;
  uint64_t energy, energy_removed;
};

// Of `count` weights, `stride` apart, each group keeps the two that are farthest from the zero
// point, of equals the first. `to` may be `from`. Adds to *loss.
void prune_groups(const uint8_t* from, uint8_t* to, size_t stride, size_t count, ElementType type,
                  int32_t zero_point, PruneLoss* loss);

}  // namespace octet
