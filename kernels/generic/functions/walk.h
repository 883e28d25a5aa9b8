// Walks through the lines of a call in chunks of bytes: functions compute chunks of constant size,
// which compilers turn into vectors without code for a remainder.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/compiler.h"
#include "octet/network.h"

namespace octet {
namespace {

constexpr size_t kFunctionChunk = 32;

OCTET_INLINE inline const uint8_t* input_line(const octet_network_image& image, size_t y) {
  return (const uint8_t*)octet_network_line(&image, y);
}
OCTET_INLINE inline uint8_t* output_line(const octet_network_call& call, size_t y) {
  return (uint8_t*)octet_network_line(&call.output, y);
}

// Calls chunk(a, b, out) for `bytes` bytes, kFunctionChunk at a time. A repeated b is one chunk,
// the same for all. The last chunk is a copy where it is not whole.
template <typename Chunk>
OCTET_INLINE inline void chunks_of_two(const uint8_t* a, const uint8_t* b, bool repeats_b,
                                       uint8_t* out, size_t bytes, const Chunk& chunk) {
  uint8_t last[3][kFunctionChunk];
  for (size_t i = 0; i < bytes; i += kFunctionChunk) {
    const uint8_t *from_a = a + i, *from_b = repeats_b ? b : b + i;
    uint8_t* to = out + i;
    const bool whole = bytes - i >= kFunctionChunk;
    if (!whole) {
      __builtin_memset(last, 0, sizeof last);
      __builtin_memcpy(last[0], from_a, bytes - i);
      __builtin_memcpy(last[1], from_b, bytes - i);
      from_a = last[0], from_b = last[1], to = last[2];
    }
    chunk(from_a, from_b, to);
    if (!whole) __builtin_memcpy(out + i, to, bytes - i);
  }
}

// Of a function of two inputs, whose images have the output's sizes, but for `one_pixel` of b.
template <typename Chunk>
OCTET_INLINE inline void for_each_chunk_of_two(const octet_network_call& call,
                                               const octet_network_image& a,
                                               const octet_network_image& b, bool one_pixel,
                                               const Chunk& chunk) {
  const octet_network_image& out = call.output;
  const size_t channels = out.channels;
  const bool repeats = one_pixel && b.channels == 1;
  const bool dense =
      a.pixel == channels && out.pixel == channels && (one_pixel ? repeats : b.pixel == channels);
  const size_t runs = dense ? 1 : out.w, bytes = dense ? out.w * channels : channels;
  uint8_t repeated[kFunctionChunk];
  if (repeats) __builtin_memset(repeated, *input_line(b, 0), sizeof repeated);
  for (size_t y = call.first; y < call.end; ++y) {
    const uint8_t *from_a = input_line(a, y),
                  *from_b = repeats ? repeated : input_line(b, one_pixel ? 0 : y);
    uint8_t* to = output_line(call, y);
    for (size_t x = 0; x < runs; ++x) {
      chunks_of_two(from_a, from_b, repeats, to, bytes, chunk);
      from_a += a.pixel, to += out.pixel, from_b += one_pixel ? 0 : b.pixel;
    }
  }
}

}  // namespace
}  // namespace octet
