// SPDX-License-Identifier: Apache-2.0
// Allocates blobs, frees or unmaps them, and hashes bytes.
#include "engines/graph/memory/blob.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "engines/graph/memory/map.h"

namespace octet::graph {
namespace {

constexpr std::align_val_t kAlignment{OCTET_ALIGNMENT};

uint64_t mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x100000001b3u;
  return hash ^ hash >> 32;
}

}  // namespace

Blob::Blob(size_t size) : data(::operator new(size, kAlignment)), bytes(size) {}
Blob::Blob(void* mapping, size_t mapping_bytes, size_t offset)
    : data((uint8_t*)mapping + offset),
      bytes(mapping_bytes - offset),
      mapping_(mapping),
      mapping_bytes_(mapping_bytes) {}
Blob::~Blob() {
  if (mapping_)
    unmap(mapping_, mapping_bytes_);
  else
    ::operator delete(data, kAlignment);
}

// FNV-1a (Fowler, Noll, Vo) by words of eight bytes, little-endian, with a
// shift after each product, as the product by itself moves no bit down. Four lanes take turns, so
// that a step does not wait for the one before it.
uint64_t content_hash(const void* data, size_t bytes) {
  const auto* const from = (const uint8_t*)data;
  uint64_t lanes[4] = {0xcbf29ce484222325u, 1, 2, 3};
  size_t at = 0;
  for (; bytes - at >= sizeof lanes; at += sizeof lanes) {
    uint64_t words[4];
    std::memcpy(words, from + at, sizeof words);
    for (size_t i = 0; i < 4; ++i) lanes[i] = mixed(lanes[i], words[i]);
  }
  uint64_t hash = mixed(mixed(mixed(lanes[0], lanes[1]), lanes[2]), lanes[3]);
  for (; at < bytes; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, from + at, std::min<size_t>(8, bytes - at));
    hash = mixed(hash, word);
  }
  return hash;
}

}  // namespace octet::graph
