// SPDX-License-Identifier: Apache-2.0
// The checksum of blobs.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

// Fletcher's checksum ("An Arithmetic Checksum for Serial Transmissions", IEEE Trans. Commun. 30,
// 1982) over little-endian 32-bit words, modulo 2^64:
//
//     for each word w:  sum += w;  weighted += sum;
//
// It finds every damage within any two words of less than 16 GiB: changes d and e of words i and j
// keep `sum` only if e = -d, and then change `weighted` by d * (j - i), which is neither 0 nor as
// large as 2^64. That covers every burst of up to 33 bits. Unlike a CRC it needs additions only,
// which every CPU has vectors for.
struct Checksum {
  uint64_t sum, weighted;

  // The checksum in one word, for short data. It finds every damage within one word.
  uint64_t folded() const { return weighted + (sum << 32); }
  bool operator==(const Checksum& o) const { return sum == o.sum && weighted == o.weighted; }
};

// bytes must be a multiple of 4; payloads and headers are.
Checksum checksum(const void* data, size_t bytes);

}  // namespace octet
