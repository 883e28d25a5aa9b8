// SPDX-License-Identifier: Apache-2.0
// Declares types and the values that operands hold.
#pragma once

#include <cstring>
#include <vector>

#include "fuzz/memory.h"
#include "octet/octet.h"

namespace octet_fuzz {

inline bool is_8bit(octet_type type) { return type == OCTET_S8 || type == OCTET_U8; }
inline bool is_4bit(octet_type type) { return type == OCTET_S4 || type == OCTET_U4; }
inline int32_t least(octet_type type) {
  return type == OCTET_S8 ? -128 : type == OCTET_S16 ? -32768 : type == OCTET_S4 ? -8 : 0;
}
inline int32_t most(octet_type type) {
  return type == OCTET_U8    ? 255
         : type == OCTET_S16 ? 32767
         : type == OCTET_U4  ? 15
         : type == OCTET_S4  ? 7
                             : 127;
}
// The zero point of symmetric values.
inline int32_t centre(octet_type type) { return type == OCTET_U8 ? 128 : type == OCTET_U4 ? 8 : 0; }
// Weights of 4 bits are drawn as bytes.
inline size_t element_bytes(octet_type type) {
  return is_8bit(type) || is_4bit(type) ? 1 : type == OCTET_S16 ? 2 : 4;
}
inline int32_t value_of(octet_type type, uint8_t byte) { return least(type) ? (int8_t)byte : byte; }
// Of an operand, of 8 or 16 bits.
inline int32_t value_at(octet_type type, const uint8_t* at) {
  if (type != OCTET_S16) return value_of(type, *at);
  int16_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}
// Of weights; one in four is of 4 bits.
inline octet_type type_of_weights(Choices* c) {
  return c->one_in(4) ? c->any({OCTET_S4, OCTET_U4}) : c->any({OCTET_S8, OCTET_U8});
}
inline octet_type type_8bit(Choices* c) { return c->any({OCTET_S8, OCTET_U8}); }

// An end of the type, its middle, or any value.
int32_t draw_zero_point(Choices* c, octet_type type);
// None, one or n of them.
std::vector<int32_t> draw_zero_points(Choices* c, octet_type type, size_t n);

// Bytes of a type. Proofs about weights depend on single values, so one value, a zero point or an
// end of the type, is nowhere, in one place only, or nearly everywhere.
void fill(Choices* c, octet_type type, int32_t zero_point, uint8_t* data, size_t count);
// As many networks' weights are, of 8 bits: most near the middle of the type, in a bell of any
// width.
void fill_bell(Choices* c, octet_type type, uint8_t* data, size_t count);
void fill_f32(Choices* c, float* data, size_t count);
// s16 values whose bytes are any, or at the ends of theirs.
void fill_s16(Choices* c, int16_t* data, size_t count);

// Weights of 4 bits, drawn as bytes, two in a byte.
Block nibbles_of(Choices* c, const Block& bytes);

// Any valid machine, or none.
std::vector<octet_machine> draw_machine(Choices* c);

// A legal scale: positive, finite, at most 2^48.
float draw_scale(Choices* c);

}  // namespace octet_fuzz
