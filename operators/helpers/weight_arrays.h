// SPDX-License-Identifier: Apache-2.0
// Checks of arrays, nibbles and f16, for the functions of octet/quantized_weights.h.
#pragma once

#include "kernels/core/half.h"
#include "operators/common/check.h"

namespace octet {

// A number and the name of the argument that holds it.
struct NamedSize {
  const char* name;
  size_t value;
};
// n rows of k elements of up to 4 bytes.
octet_status check_rows(const NamedSize& n, const NamedSize& k, octet_error* error);
octet_status check_divides(const NamedSize& block, const NamedSize& k, octet_error* error);
octet_status check_scale_type(octet_type scale_type, octet_error* error);

struct WeightArray {
  const char* name;
  const void* data;
  size_t bytes, alignment;
  bool written;
};
// Refuses null and misaligned arrays, and written arrays that overlap another.
octet_status check_weight_arrays(const WeightArray* arrays, size_t count, octet_error* error);

inline size_t nibble_bytes(size_t count) { return count / 2 + count % 2; }
inline uint32_t nibble_of(uint32_t word, size_t i) { return word >> (4 * i) & 15; }
// Of zeros
inline void set_nibble(uint8_t* nibbles, size_t i, uint32_t value) {
  nibbles[i / 2] = (uint8_t)(nibbles[i / 2] | value << (i % 2 * 4));
}

inline size_t scale_bytes(octet_type scale_type) { return scale_type == OCTET_F16 ? 2 : 4; }

}  // namespace octet
