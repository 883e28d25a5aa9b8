// 2:4 weights as GPUs take them: two values of each group, and metadata with the places of both in
// it, two bits each, the first value's in the lower ones.
#pragma once

#include "operators/sparse/group.h"
#include "packing/packed_rhs.h"

namespace octet {

enum class MetadataOrder { kRows, kCutlass };

// A byte of metadata is of two groups, a word of eight.
constexpr size_t kGroupsOfByte = 2, kGroupsOfWord = 8;

struct Metadata {
  MetadataOrder order;
  size_t n, k;  // k: whole bytes; kCutlass: n whole sixteens, k whole pairs of words

  // The byte, and the bits of it, of the group at depth k of row n.
  size_t byte(size_t row, size_t depth) const;
  static unsigned shift(size_t depth) { return depth / kGroupWeights % kGroupsOfByte * 4; }
};

// Where a group is that cannot be.
struct BadGroup {
  size_t row, k;
};

// Whether the places of each group's values are in order.
bool check_indexed(const Metadata& metadata, const uint8_t* places, BadGroup* bad);
void read_indexed(const Metadata& metadata, const uint8_t* values, const uint8_t* places,
                  uint8_t* weights, size_t stride);

// All groups have room for their weights.
void write_indexed(const Metadata& metadata, const RhsView& rhs, uint8_t* values, uint8_t* places);

}  // namespace octet
