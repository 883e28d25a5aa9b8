#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

// Fletcher's checksum ("An Arithmetic Checksum for Serial Transmissions", IEEE Trans. Commun. 30,
// 1982) over little-endian 32-bit words, modulo 2^64:
//
//     for each word w:  sum += w;  weighted += sum;
//
// Damage within any two words of less than 16 GiB is found for certain: changes d and e of words i
// and j leave `sum` only if e = -d, and then change `weighted` by d * (j - i), which is neither 0
// nor as large as 2^64. That covers every burst of up to 33 bits. Unlike a CRC it takes additions
// only, which every CPU has vectors for.
struct Checksum {
  uint64_t sum, weighted;

  // In one word, for short data. Damage within one word is found for certain.
  uint64_t folded() const { return weighted + (sum << 32); }
  bool operator==(const Checksum& o) const { return sum == o.sum && weighted == o.weighted; }
};

// bytes is a multiple of 4, as all payloads and headers are.
Checksum checksum(const void* data, size_t bytes);

}  // namespace octet
