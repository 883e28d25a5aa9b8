// SPDX-License-Identifier: Apache-2.0
// Prunes groups of four weights by magnitude.
#include "operators/sparse/prune.h"

#include "operators/sparse/group.h"

namespace octet {

void prune_groups(const uint8_t* from, uint8_t* to, size_t stride, size_t count, ElementType type,
                  int32_t zero_point, octet_sparse_loss* loss) {
  for (size_t group = 0; group < count; group += kGroupWeights) {
    const size_t size = count - group < kGroupWeights ? count - group : kGroupWeights;
    uint8_t bytes[kGroupWeights];
    uint32_t magnitudes[kGroupWeights];
    for (size_t i = 0; i < size; ++i) {
      bytes[i] = from[(group + i) * stride];
      const int32_t value =
          (type == ElementType::kU8 ? (int32_t)bytes[i] : (int32_t)(int8_t)bytes[i]) - zero_point;
      magnitudes[i] = (uint32_t)(value < 0 ? -value : value);
    }
    for (size_t i = 0; i < size; ++i) {
      size_t before = 0;  // weights of the group that are kept before this one
      for (size_t j = 0; j < size; ++j)
        before += magnitudes[j] > magnitudes[i] || (magnitudes[j] == magnitudes[i] && j < i);
      const bool stays = before < kGroupKept;
      to[(group + i) * stride] = stays ? bytes[i] : (uint8_t)zero_point;
      const uint64_t magnitude = magnitudes[i], energy = magnitude * magnitude;
      loss->weights += magnitude != 0;
      loss->magnitude += magnitude;
      loss->energy += energy;
      if (stays) continue;
      loss->removed += magnitude != 0;
      loss->magnitude_removed += magnitude;
      loss->energy_removed += energy;
    }
  }
}

}  // namespace octet
