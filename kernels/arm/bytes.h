// Moving bytes at the edges of a matrix, where whole vectors would leave it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/unroll.h"

namespace octet {
namespace {

// The last 1..7 bytes of a row, zero beyond them.
inline uint64_t load_tail(const uint8_t* bytes, size_t count) {
  uint64_t word = 0;
  while (count) word = word << 8 | bytes[--count];
  return word;
}

// 1..4 bytes of a row, zero beyond them.
inline uint32_t load_quad(const uint8_t* bytes, size_t count) {
  uint32_t quad;
  if (count < 4) return (uint32_t)load_tail(bytes, count);
  __builtin_memcpy(&quad, bytes, sizeof quad);
  return quad;
}

inline uint64_t load8(const uint8_t* bytes) {
  uint64_t word;
  __builtin_memcpy(&word, bytes, sizeof word);
  return word;
}

// Tiles with fewer columns than their registers are stored whole on the stack first; this moves what exists of them.
__attribute__((noinline, unused)) void copy_rows(const uint8_t* from, size_t from_stride, uint8_t* to, size_t to_stride, size_t rows,
                                                 size_t bytes) {
  for (; rows; --rows, from += from_stride, to += to_stride) {
    OCTET_NO_UNROLL
    for (size_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

}  // namespace
}  // namespace octet
