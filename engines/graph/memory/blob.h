// SPDX-License-Identifier: Apache-2.0
// Memory at a multiple of OCTET_ALIGNMENT, also of a mapped file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "octet/octet.h"

namespace octet::graph {

struct Blob {
  explicit Blob(size_t size);  // throws std::bad_alloc
  // The bytes from `offset`, a multiple of OCTET_ALIGNMENT, to the end of a mapping. The blob owns
  // the whole mapping, and its destructor unmaps it.
  Blob(void* mapping, size_t mapping_bytes, size_t offset);
  ~Blob();
  Blob(const Blob&) = delete;
  Blob& operator=(const Blob&) = delete;
  void* const data;
  const size_t bytes;

 private:
  void* const mapping_ = nullptr;
  const size_t mapping_bytes_ = 0;
};

// Bytes up to where the next workspace or array may begin.
constexpr size_t aligned(size_t bytes) {
  return (bytes + OCTET_ALIGNMENT - 1) / OCTET_ALIGNMENT * OCTET_ALIGNMENT;
}

// 64 bits of the bytes.
uint64_t content_hash(const void* data, size_t bytes);

}  // namespace octet::graph
