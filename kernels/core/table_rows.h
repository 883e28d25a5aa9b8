// SPDX-License-Identifier: Apache-2.0
// Arranges a table of 256 bytes for vectors that look up rows of 16, as PSHUFB does.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {
namespace {

// Writes 16 rows of 16 bytes, each xor-ed with the row before it, but for rows 0 and 8.
inline void write_table_rows(const uint8_t* table, uint8_t* rows) {
  for (size_t i = 0; i < 256; ++i)
    rows[i] = (uint8_t)(i % 128 < 16 ? table[i] : table[i] ^ table[i - 16]);
}

}  // namespace
}  // namespace octet
