// SPDX-License-Identifier: Apache-2.0
// Holds zeroed, aligned memory for benches.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "octet/octet.h"

namespace bench {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

template <typename T>
using Aligned = std::unique_ptr<T[], Free>;

template <typename T>
Aligned<T> aligned(size_t count) {
  const size_t bytes =
      (count * sizeof(T) + OCTET_ALIGNMENT - 1) / OCTET_ALIGNMENT * OCTET_ALIGNMENT;
  void* memory = std::aligned_alloc(OCTET_ALIGNMENT, bytes);
  if (!memory) throw std::bad_alloc();
  return Aligned<T>((T*)std::memset(memory, 0, bytes));
}

}  // namespace bench
