// SPDX-License-Identifier: Apache-2.0
// Reads and writes 2:4 weights with metadata of places.
#include "operators/sparse/indexed.h"

#include <string.h>

namespace octet {
namespace {

struct Places {
  unsigned first, second;
};

Places places_of(const Metadata& metadata, const uint8_t* places, size_t row, size_t depth) {
  const unsigned bits = (unsigned)places[metadata.byte(row, depth)] >> Metadata::shift(depth);
  return {bits & 3, bits >> 2 & 3};
}

// In a group with fewer than two weights, the last zeros are kept, as PyTorch does.
Places kept_places(const uint8_t* group, size_t stride) {
  Places kept = {0, 0};
  size_t count = 0;
  bool stays[kGroupWeights];
  for (size_t i = 0; i < kGroupWeights; ++i) count += stays[i] = group[i * stride] != 0;
  for (size_t i = kGroupWeights; i-- > 0 && count < kGroupKept;)
    if (!stays[i]) stays[i] = true, ++count;
  count = 0;
  for (unsigned i = 0; i < kGroupWeights; ++i)
    if (stays[i]) (count++ ? kept.second : kept.first) = i;
  return kept;
}

}  // namespace

// OCTET_METADATA_CUTLASS: blocks of 16 rows and two metadata words. Within a block the order is
// row % 8, then word, then row / 8. Blocks follow each other down the rows, then along the words.
size_t Metadata::byte(size_t row, size_t depth) const {
  const size_t group = depth / kGroupWeights;
  if (order == OCTET_METADATA_ROWS)
    return row * (k / kGroupWeights / kGroupsOfByte) + group / kGroupsOfByte;
  const size_t word = group / kGroupsOfWord;
  const size_t at = word / 2 * (2 * n) + row / 16 * 32 + row % 8 * 4 + word % 2 * 2 + row / 8 % 2;
  return at * (kGroupsOfWord / kGroupsOfByte) + group % kGroupsOfWord / kGroupsOfByte;
}

bool check_indexed(const Metadata& m, const uint8_t* places, BadGroup* bad) {
  for (size_t row = 0; row < m.n; ++row)
    for (size_t depth = 0; depth < m.k; depth += kGroupWeights) {
      const Places p = places_of(m, places, row, depth);
      if (p.first < p.second) continue;
      *bad = {row, depth};
      return false;
    }
  return true;
}

void read_indexed(const Metadata& m, const uint8_t* values, const uint8_t* places, uint8_t* weights,
                  size_t stride) {
  for (size_t row = 0; row < m.n; ++row)
    for (size_t depth = 0; depth < m.k; depth += kGroupWeights, values += kGroupKept) {
      const Places p = places_of(m, places, row, depth);
      uint8_t* const group = weights + row * stride + depth;
      memset(group, 0, kGroupWeights);
      group[p.first] = values[0];
      group[p.second] = values[1];
    }
}

void write_indexed(const Metadata& m, const RhsView& rhs, uint8_t* values, uint8_t* places) {
  memset(places, 0, m.n * (m.k / kGroupWeights / kGroupsOfByte));
  for (size_t row = 0; row < m.n; ++row)
    for (size_t depth = 0; depth < m.k; depth += kGroupWeights) {
      const uint8_t* const group = rhs.data + row * rhs.n_stride + depth * rhs.k_stride;
      const Places p = kept_places(group, rhs.k_stride);
      *values++ = group[p.first * rhs.k_stride];
      *values++ = group[p.second * rhs.k_stride];
      places[m.byte(row, depth)] |= (uint8_t)((p.first | p.second << 2) << Metadata::shift(depth));
    }
}

}  // namespace octet
