// SPDX-License-Identifier: Apache-2.0
// Reads the bytes of a vector that a file of engines' results has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace octet_test {

// Two digits for each byte, as files of vectors have them.
inline std::vector<uint8_t> from_hex(const std::string& hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back((uint8_t)std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

}  // namespace octet_test
