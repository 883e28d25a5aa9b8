// SPDX-License-Identifier: Apache-2.0
// 2:4 weights in the format of GPUs: two values of each group, and metadata with the place of each
// in two bits, the first value's in the lower bits.
#pragma once

#include "octet/sparse.h"
#include "operators/sparse/group.h"
#include "packing/packed_rhs.h"

namespace octet {

// A metadata byte describes two groups, a word eight.
constexpr size_t kGroupsOfByte = 2, kGroupsOfWord = 8;

struct Metadata {
  octet_sparse_metadata order;
  // OCTET_METADATA_ROWS: k is whole bytes. OCTET_METADATA_CUTLASS: n is a multiple of 16 rows, k
  // whole pairs of words.
  size_t n, k;

  // The byte, and the shift in it, of the group at depth k of row n.
  size_t byte(size_t row, size_t depth) const;
  static unsigned shift(size_t depth) { return depth / kGroupWeights % kGroupsOfByte * 4; }
};

// The position of an invalid group.
struct BadGroup {
  size_t row, k;
};

// True if the places of each group's values are in order.
bool check_indexed(const Metadata& metadata, const uint8_t* places, BadGroup* bad);
void read_indexed(const Metadata& metadata, const uint8_t* values, const uint8_t* places,
                  uint8_t* weights, size_t stride);

// Every group must fit the 2:4 pattern.
void write_indexed(const Metadata& metadata, const RhsView& rhs, uint8_t* values, uint8_t* places);

}  // namespace octet
