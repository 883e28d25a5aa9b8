// SPDX-License-Identifier: Apache-2.0
// One allocation for an object and all its arrays. A builder runs twice: without memory to learn
// the size, then with it.
#pragma once

#include "kernels/core/packed_layout.h"
#include "octet/octet.h"

namespace octet {

struct Arena {
  uint8_t* memory;
  size_t used;  // above PTRDIFF_MAX if the object does not fit in memory
  template <typename T>
  T* take(size_t count) {
    T* piece = memory ? (T*)(memory + used) : nullptr;
    if (count > PTRDIFF_MAX / sizeof(T) || used > PTRDIFF_MAX)
      used = SIZE_MAX;
    else
      used += round_up(count * sizeof(T), kAlignment);
    return piece;
  }
};

// Repeats `count` values (1 or more) over n columns, and pads up to `padded` values.
template <typename T>
T* spread(Arena* arena, const T* values, size_t count, size_t n, size_t padded, T padding) {
  T* out = arena->take<T>(padded);
  if (out)
    for (size_t i = 0; i < padded; ++i)
      out[i] = i < n ? values[i < count ? i : i % count] : padding;
  return out;
}

octet_status refuse_size(octet_error* error);  // for an object that does not fit in memory

// Allocates with the caller's allocator or the system's, and checks the alignment.
octet_status allocate(octet_allocator* allocator, size_t bytes, void** memory, octet_error* error);

template <typename Object, typename Builder>
octet_status allocate_and_build(Object* (*build)(const Builder& builder, Arena* arena),
                                const Builder& builder, octet_allocator allocator, Object** out,
                                octet_error* error) {
  Arena arena = {nullptr, 0};
  build(builder, &arena);
  if (arena.used > PTRDIFF_MAX) return refuse_size(error);
  void* memory;
  if (const octet_status status = allocate(&allocator, arena.used, &memory, error)) return status;
  arena = {(uint8_t*)memory, 0};
  *out = build(builder, &arena);
  (*out)->allocator = allocator;
  return OCTET_OK;
}

}  // namespace octet
