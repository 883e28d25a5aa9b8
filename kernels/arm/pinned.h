// Single instructions that stay where the text puts them: no compiler moves, merges or replaces
// them, they only allocate registers. For depth loops whose order matters: on in-order cores, and
// where GCC 12 parts pairs of loads. The loads read operands, which nobody writes meanwhile.
#pragma once

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/core/unroll.h"

namespace octet {
namespace {

OCTET_INLINE inline void load16_step(int8x16_t& to, const uint8_t*& from) {
  __asm__ volatile("ldr %q0, [%1], #16" : "=w"(to), "+r"(from));
}

// 32 bytes at from + offset.
template <int offset>
OCTET_INLINE inline void load_two(int8x16_t& low, int8x16_t& high, const uint8_t* from) {
  __asm__ volatile("ldp %q0, %q1, [%2, %c3]" : "=w"(low), "=w"(high) : "r"(from), "n"(offset));
}
// 32 bytes; then `step` bytes on.
template <int step>
OCTET_INLINE inline void load_two_step(int8x16_t& low, int8x16_t& high, const uint8_t*& from) {
  __asm__ volatile("ldp %q0, %q1, [%2], %c3" : "=w"(low), "=w"(high), "+r"(from) : "n"(step));
}

// In-order cores load 64 bits beside arithmetic, 128 bits instead of it.
OCTET_INLINE inline void load4_step(int8x16_t& to, const uint8_t*& from) {
  __asm__ volatile("ldr %s0, [%1], #4" : "=w"(to), "+r"(from));
}
OCTET_INLINE inline void load8_step(int8x16_t& to, const uint8_t*& from) {
  __asm__ volatile("ldr %d0, [%1], #8" : "=w"(to), "+r"(from));
}
template <int offset>
OCTET_INLINE inline void load_low(int8x16_t& to, const uint8_t* from) {
  __asm__ volatile("ldr %d0, [%1, %c2]" : "=w"(to) : "r"(from), "n"(offset));
}
template <int offset>
OCTET_INLINE inline void load_word(uint64_t& to, const uint8_t* from) {
  __asm__ volatile("ldr %x0, [%1, %c2]" : "=r"(to) : "r"(from), "n"(offset));
}
OCTET_INLINE inline void insert_high(int8x16_t& to, uint64_t high) {
  __asm__ volatile("ins %0.d[1], %x1" : "+w"(to) : "r"(high));
}

template <int lane>
OCTET_INLINE inline void store4_step(uint32x4_t from, uint8_t*& to) {
  __asm__ volatile("st1 {%1.s}[%c2], [%0], #4" : "+r"(to) : "w"(from), "n"(lane) : "memory");
}

// Products of the low halves, and of the high halves.
OCTET_INLINE inline int16x8_t multiply_low(int8x16_t a, int8x16_t b) {
  int16x8_t products;
  __asm__ volatile("smull %0.8h, %1.8b, %2.8b" : "=w"(products) : "w"(a), "w"(b));
  return products;
}
OCTET_INLINE inline int16x8_t multiply_high(int8x16_t a, int8x16_t b) {
  int16x8_t products;
  __asm__ volatile("smull2 %0.8h, %1.16b, %2.16b" : "=w"(products) : "w"(a), "w"(b));
  return products;
}
OCTET_INLINE inline void multiply_add_high(int16x8_t& products, int8x16_t a, int8x16_t b) {
  __asm__ volatile("smlal2 %0.8h, %1.16b, %2.16b" : "+w"(products) : "w"(a), "w"(b));
}
OCTET_INLINE inline int32x4_t pairs(int16x8_t products) {
  int32x4_t sums;
  __asm__ volatile("saddlp %0.4s, %1.8h" : "=w"(sums) : "w"(products));
  return sums;
}
OCTET_INLINE inline void add_pairs(int32x4_t& sums, int16x8_t products) {
  __asm__ volatile("sadalp %0.4s, %1.8h" : "+w"(sums) : "w"(products));
}

#ifdef __ARM_FEATURE_DOTPROD
template <int lane>
OCTET_INLINE inline void dot(int32x4_t& acc, int8x16_t b, int8x16_t a) {
  __asm__ volatile("sdot %0.4s, %1.16b, %2.4b[%c3]" : "+w"(acc) : "w"(b), "w"(a), "n"(lane));
}
#endif

}  // namespace
}  // namespace octet
