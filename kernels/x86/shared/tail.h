// SPDX-License-Identifier: Apache-2.0
// Loads the end of a row as a vector without reading past it.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/core/compiler.h"

namespace octet {
namespace {

template <typename T>
OCTET_INLINE inline uint64_t load(const uint8_t* bytes) {
  T value;
  __builtin_memcpy(&value, bytes, sizeof value);
  return value;
}

// Loads 1..15 bytes, flipped and followed by zeros. It reads no other bytes; overlapping reads give
// the same bytes.
inline __m128i tail(const uint8_t* bytes, size_t count, uint64_t flip) {
  uint64_t low, high = 0;
  const size_t end = 8 * (count % 8);
  if (count >= 8) {
    low = load<uint64_t>(bytes) ^ flip;
    if (end) high = (load<uint64_t>(bytes + count - 8) ^ flip) >> (64 - end);
  } else if (count >= 4) {
    const uint64_t last = load<uint32_t>(bytes + count - 4) ^ (uint32_t)flip;
    low = (load<uint32_t>(bytes) ^ (uint32_t)flip) | last << (end - 32);
  } else {
    low = bytes[0] | (uint64_t)bytes[count / 2] << 8 * (count / 2) |
          (uint64_t)bytes[count - 1] << (end - 8);
    low ^= flip >> (64 - end);
  }
  return _mm_set_epi64x((int64_t)high, (int64_t)low);
}

}  // namespace
}  // namespace octet
