// Prepares int16 depthwise weights: the first two taps of a group for a vector's channels, then the
// other two, because a multiply-add takes two int16 from each lane.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {
namespace {

template <size_t lanes>
inline void split_pairs(const uint64_t* groups, uint8_t* to) {
  uint32_t pairs[2][lanes];
  for (size_t c = 0; c < lanes; ++c)
    pairs[0][c] = (uint32_t)groups[c], pairs[1][c] = (uint32_t)(groups[c] >> 32);
  __builtin_memcpy(to, pairs, sizeof pairs);
}

}  // namespace
}  // namespace octet
