// SPDX-License-Identifier: Apache-2.0
// A table of kernels: an array of pointers, and a lookup by name.
#pragma once

#include <stddef.h>
#include <string.h>

namespace octet {

// Pointers to rows, the best first.
template <typename Row>
struct Table {
  const Row* const* rows;
  size_t count;
  const Row* const* begin() const { return rows; }
  const Row* const* end() const { return rows + count; }
};

template <typename Row>
const Row* find(const Table<Row>& table, const char* name) {  // null if there is none
  for (const Row* row : table)
    if (strcmp(row->name, name) == 0) return row;
  return nullptr;
}

}  // namespace octet
