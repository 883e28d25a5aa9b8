// Prunes weights to 2:4 by magnitude.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

// Sums over one output channel, of weights minus their zero point.
struct PruneLoss {
  uint64_t weights, removed;
  uint64_t magnitude, magnitude_removed;
  uint64_t energy, energy_removed;
};

// Keeps the two weights of each group of four that are farthest from the zero point; of equal ones
// the first. Reads `count` weights, `stride` apart. `to` may be `from`. Adds to *loss.
void prune_groups(const uint8_t* from, uint8_t* to, size_t stride, size_t count, bool is_u8,
                  int32_t zero_point, PruneLoss* loss);

}  // namespace octet
