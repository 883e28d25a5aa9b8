// SPDX-License-Identifier: Apache-2.0
// Puts weights of 4 bits two in a byte, as filters are given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace octet_test {

// The low halves of bytes are the weights. Of an odd number of them, the last byte's high half is
// none.
inline std::vector<uint8_t> nibbles_of(const std::vector<uint8_t>& bytes) {
  std::vector<uint8_t> nibbles((bytes.size() + 1) / 2, 0xf0);
  for (size_t i = 0; i < bytes.size(); ++i) {
    uint8_t& two = nibbles[i / 2];
    two = (uint8_t)(i % 2 ? (two & 15) | bytes[i] << 4 : 0xf0 | (bytes[i] & 15));
  }
  return nibbles;
}

}  // namespace octet_test
