// SPDX-License-Identifier: Apache-2.0
// Reads and writes AMD's stream of sparse weights.
#include "operators/sparse/stream.h"

#include <string.h>

#include "kernels/core/assert.h"

namespace octet {
namespace {

struct Chunk {
  uint64_t mask;
  const uint8_t* weights;
  size_t end;  // offset in the stream, behind the guard
};

// Set bits in a group's part of a mask. __builtin_popcount would call the compiler's library on
// CPUs without such an instruction.
size_t set_bits(uint64_t group) {
  return (group & 1) + (group >> 1 & 1) + (group >> 2 & 1) + (group >> 3 & 1);
}

// Reads the chunk at `at`, which is at most `bytes`.
StreamError read_chunk(const StreamFormat& format, const uint8_t* stream, size_t bytes, size_t at,
                       Chunk* chunk) {
  const size_t mask_bytes = format.mask_bytes();
  if (bytes - at < mask_bytes) return {StreamFault::kEndsInMask, bytes};
  chunk->mask = 0;
  // little-endian, as on all CPUs that Octet runs on
  memcpy(&chunk->mask, stream + at, mask_bytes);
  const size_t first = at + mask_bytes;
  size_t end = first;
  for (size_t i = 0; i < format.chunk; i += kGroupWeights) {
    const size_t kept = set_bits(chunk->mask >> i);
    if (kept > kGroupKept) return {StreamFault::kMoreThanTwo, at + i / 8};
    end += kept;
  }
  if (bytes - first < end - first) return {StreamFault::kEndsInWeights, bytes};
  chunk->weights = stream + first;
  chunk->end = round_up(end, format.alignment);
  for (size_t i = end; i < chunk->end; ++i) {
    if (i == bytes) return {StreamFault::kEndsInGuard, bytes};
    if (stream[i]) return {StreamFault::kGuard, i};
  }
  return {StreamFault::kNone, 0};
}

}  // namespace

StreamError count_chunks(const StreamFormat& format, const uint8_t* stream, size_t bytes,
                         size_t* chunks) {
  *chunks = 0;
  for (size_t at = 0; at < bytes; ++*chunks) {
    Chunk chunk;
    const StreamError error = read_chunk(format, stream, bytes, at, &chunk);
    if (error.fault != StreamFault::kNone) return error;
    at = chunk.end;
  }
  return {StreamFault::kNone, 0};
}

StreamError read_stream(const StreamFormat& format, const uint8_t* stream, size_t bytes, size_t n,
                        size_t k, uint8_t* weights, size_t stride) {
  size_t at = 0, row = 0, depth = 0;
  while (row < n) {
    Chunk chunk;
    const StreamError error = read_chunk(format, stream, bytes, at, &chunk);
    if (error.fault != StreamFault::kNone) return error;
    const uint8_t* next = chunk.weights;
    for (size_t group = 0; group < format.chunk; group += kGroupWeights) {
      for (size_t i = 0; i < kGroupWeights; ++i) {
        const uint8_t weight = chunk.mask >> (group + i) & 1 ? *next++ : 0;
        if (row < n && depth + i < k) {
          if (weights) weights[row * stride + depth + i] = weight;
        } else if (weight) {
          return {StreamFault::kBeyond, (size_t)(next - 1 - stream)};
        }
      }
      depth += kGroupWeights;
      if (depth >= k) ++row, depth = 0;
    }
    at = chunk.end;
  }
  if (at < bytes) return {StreamFault::kTrailing, at};
  return {StreamFault::kNone, 0};
}

size_t write_stream(const StreamFormat& format, const RhsView& rhs, size_t matrix_stride,
                    size_t rows, uint8_t* stream) {
  size_t at = 0, row = 0, depth = 0;
  while (row < rows) {
    uint64_t mask = 0;
    uint8_t weights[64 / 2];
    size_t count = 0;
    OCTET_ASSERT(format.chunk <= 64);
    for (size_t group = 0; group < format.chunk; group += kGroupWeights) {
      const uint8_t* const from =
          row < rows ? rhs.data + row / rhs.n * matrix_stride + row % rhs.n * rhs.n_stride
                     : nullptr;
      uint8_t values[kGroupWeights] = {};
      unsigned kept = 0;
      for (size_t i = 0; from && i < kGroupWeights && depth + i < rhs.k; ++i) {
        values[i] = from[(depth + i) * rhs.k_stride];
        if (values[i]) kept |= 1u << i;
      }
      OCTET_ASSERT(set_bits(kept) <= kGroupKept);
      for (unsigned i = 0; format.keep_zeros && set_bits(kept) < kGroupKept; ++i) kept |= 1u << i;
      for (size_t i = 0; i < kGroupWeights; ++i)
        if (kept >> i & 1) weights[count++] = values[i];
      mask |= (uint64_t)kept << group;
      depth += kGroupWeights;
      if (depth >= rhs.k) ++row, depth = 0;
    }
    const size_t end = round_up(at + format.mask_bytes() + count, format.alignment);
    if (stream) {
      memset(stream + at, 0, end - at);
      memcpy(stream + at, &mask, format.mask_bytes());
      memcpy(stream + at + format.mask_bytes(), weights, count);
    }
    at = end;
  }
  return at;
}

}  // namespace octet
