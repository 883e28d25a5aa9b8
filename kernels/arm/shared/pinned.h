// SPDX-License-Identifier: Apache-2.0
// Single instructions as assembly: compilers allocate registers but cannot move, merge or replace
// them. They serve depth loops whose order matters: on in-order cores, and where GCC 12 separates
// pairs of loads. The loads have no memory clobber, because operands are not written meanwhile.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/arm/shared/intrinsics.h"
#include "kernels/core/compiler.h"

namespace octet {
namespace {

// One instruction in the syntax of AArch64 and of AArch32, where %e and %f are a register's halves.
#if defined(__aarch64__)
#define OCTET_SPELLED(aarch64, aarch32) aarch64
#else
#define OCTET_SPELLED(aarch64, aarch32) aarch32
#endif

// Loads 16 bytes, then advances by `step` bytes. Compilers may move and remove it.
OCTET_INLINE inline void load16_by(int8x16_t& to, const uint8_t*& from, size_t step) {
  __asm__(OCTET_SPELLED("ld1 {%0.16b}, [%1], %2", "vld1.8 {%e0, %f0}, [%1], %2")
          : "=w"(to), "+r"(from)
          : "r"(step));
}

#if defined(__aarch64__)

OCTET_INLINE inline void load16_step(int8x16_t& to, const uint8_t*& from) {
  __asm__ volatile("ldr %q0, [%1], #16" : "=w"(to), "+r"(from));
}

// Loads 32 bytes at from + offset.
template <int offset, typename Vector, typename Value>
OCTET_INLINE inline void load_two(Vector& low, Vector& high, const Value* from) {
  __asm__ volatile("ldp %q0, %q1, [%2, %c3]" : "=w"(low), "=w"(high) : "r"(from), "n"(offset));
}
// Loads 32 bytes, then advances by `step` bytes.
template <int step>
OCTET_INLINE inline void load_two_step(int8x16_t& low, int8x16_t& high, const uint8_t*& from) {
  __asm__ volatile("ldp %q0, %q1, [%2], %c3" : "=w"(low), "=w"(high), "+r"(from) : "n"(step));
}

// Loads the first or the second two of four columns of 16 bytes.
template <int two>
OCTET_INLINE inline void load_columns(int8x16_t& b0, int8x16_t& b1, const uint8_t*& from) {
  if constexpr (two == 0)
    load_two_step<64>(b0, b1, from);
  else
    load_two<-32>(b0, b1, from);
}

// Load `count` neighbouring registers, which only fixed ones are, and advance past them. Of the two
// lists either is loaded while the other one is in use. Fixed registers are in no template, because
// GCC 10 forgets them there.
#define OCTET_LOAD_LIST(name, r0, r1, r2, r3)                                         \
  OCTET_INLINE inline void name(Int<4>, int8x16_t(&to)[4], const uint8_t*& from) {    \
    register int8x16_t x0 __asm__("v" #r0), x1 __asm__("v" #r1), x2 __asm__("v" #r2), \
        x3 __asm__("v" #r3);                                                          \
    __asm__ volatile("ld1 {%0.16b, %1.16b, %2.16b, %3.16b}, [%4], #64"                \
                     : "=w"(x0), "=w"(x1), "=w"(x2), "=w"(x3), "+r"(from));           \
    to[0] = x0, to[1] = x1, to[2] = x2, to[3] = x3;                                   \
  }                                                                                   \
  OCTET_INLINE inline void name(Int<3>, int8x16_t(&to)[4], const uint8_t*& from) {    \
    register int8x16_t x0 __asm__("v" #r0), x1 __asm__("v" #r1), x2 __asm__("v" #r2); \
    __asm__ volatile("ld1 {%0.16b, %1.16b, %2.16b}, [%3], #48"                        \
                     : "=w"(x0), "=w"(x1), "=w"(x2), "+r"(from));                     \
    to[0] = x0, to[1] = x1, to[2] = x2;                                               \
  }                                                                                   \
  OCTET_INLINE inline void name(Int<2>, int8x16_t(&to)[4], const uint8_t*& from) {    \
    register int8x16_t x0 __asm__("v" #r0), x1 __asm__("v" #r1);                      \
    __asm__ volatile("ldp %q0, %q1, [%2], #32" : "=w"(x0), "=w"(x1), "+r"(from));     \
    to[0] = x0, to[1] = x1;                                                           \
  }                                                                                   \
  OCTET_INLINE inline void name(Int<1>, int8x16_t(&to)[4], const uint8_t*& from) {    \
    register int8x16_t x0 __asm__("v" #r0);                                           \
    __asm__ volatile("ldr %q0, [%1], #16" : "=w"(x0), "+r"(from));                    \
    to[0] = x0;                                                                       \
  }                                                                                   \
  template <int count>                                                                \
  OCTET_INLINE inline void name(int8x16_t(&to)[4], const uint8_t*& from) {            \
    name(Int<count>{}, to, from);                                                     \
  }
OCTET_LOAD_LIST(load_rows_list, 24, 25, 26, 27)
OCTET_LOAD_LIST(load_columns_list, 28, 29, 30, 31)
#undef OCTET_LOAD_LIST

// Loads 32 bytes of row `i`, then advances past them.
#define OCTET_LOAD_TWICE(i, r0, r1)                                                       \
  OCTET_INLINE inline void load_rows_twice(Int<i>, int8x16_t& first, int8x16_t& second,   \
                                           const uint8_t*& from) {                        \
    register int8x16_t x0 __asm__("v" #r0), x1 __asm__("v" #r1);                          \
    __asm__ volatile("ld1 {%0.16b, %1.16b}, [%2], #32" : "=w"(x0), "=w"(x1), "+r"(from)); \
    first = x0, second = x1;                                                              \
  }
OCTET_LOAD_TWICE(0, 20, 21)
OCTET_LOAD_TWICE(1, 22, 23)
OCTET_LOAD_TWICE(2, 24, 25)
OCTET_LOAD_TWICE(3, 26, 27)
#undef OCTET_LOAD_TWICE
template <int i>
OCTET_INLINE inline void load_rows_twice(int8x16_t& first, int8x16_t& second,
                                         const uint8_t*& from) {
  load_rows_twice(Int<i>{}, first, second, from);
}

template <int offset>
OCTET_INLINE inline void load16(int8x16_t& to, const uint8_t* from) {
  __asm__ volatile("ldr %q0, [%1, %c2]" : "=w"(to) : "r"(from), "n"(offset));
}

// In-order cores issue a load of 64 bits beside arithmetic, but a load of 128 bits instead of it.
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
OCTET_INLINE inline void load_s16(uint64_t& to, const uint8_t* from) {
  __asm__ volatile("ldr %x0, [%1, %c2]" : "=r"(to) : "r"(from), "n"(offset));
}
OCTET_INLINE inline void insert_high(int8x16_t& to, uint64_t high) {
  __asm__ volatile("ins %0.d[1], %x1" : "+w"(to) : "r"(high));
}

// Loads the first eight bytes of two of four columns of 16; after the last two, advances past all
// four.
template <int two>
OCTET_INLINE inline void load_half_columns(int8x16_t& b0, int8x16_t& b1, const uint8_t*& from) {
  load_low<32 * two>(b0, from);
  load_low<32 * two + 16>(b1, from);
  if (two) from += 64;
}

// Loads 16 bytes of a row, or their first eight, and advances to the next row in the same
// instruction.
OCTET_INLINE inline void load16_row(int8x16_t& to, const uint8_t*& from, size_t stride) {
  __asm__ volatile("ld1 {%0.16b}, [%1], %2" : "=w"(to), "+r"(from) : "r"(stride));
}
OCTET_INLINE inline void load8_row(int8x16_t& to, const uint8_t*& from, size_t stride) {
  __asm__ volatile("ld1 {%0.8b}, [%1], %2" : "=w"(to), "+r"(from) : "r"(stride));
}
OCTET_INLINE inline void store16_row(uint8x16_t bytes, uint8_t*& to, size_t stride) {
  __asm__ volatile("st1 {%1.16b}, [%0], %2" : "+r"(to) : "w"(bytes), "r"(stride) : "memory");
}
OCTET_INLINE inline void store8_row(uint8x16_t bytes, uint8_t*& to, size_t stride) {
  __asm__ volatile("st1 {%1.8b}, [%0], %2" : "+r"(to) : "w"(bytes), "r"(stride) : "memory");
}
OCTET_INLINE inline void store8_high_row(uint8x16_t bytes, uint8_t*& to, size_t stride) {
  __asm__ volatile("st1 {%1.d}[1], [%0], %2" : "+r"(to) : "w"(bytes), "r"(stride) : "memory");
}

template <int lane>
OCTET_INLINE inline void store4_step(uint32x4_t from, uint8_t*& to) {
  __asm__ volatile("st1 {%1.s}[%c2], [%0], #4" : "+r"(to) : "w"(from), "n"(lane) : "memory");
}

#ifdef __ARM_FEATURE_DOTPROD
template <int lane>
OCTET_INLINE inline void dot(int32x4_t& acc, int8x16_t b, int8x16_t a) {
  __asm__ volatile("sdot %0.4s, %1.16b, %2.4b[%c3]" : "+w"(acc) : "w"(b), "w"(a), "n"(lane));
}
#endif

#else

OCTET_INLINE inline void load16_step(int8x16_t& to, const uint8_t*& from) {
  __asm__ volatile("vld1.8 {%e0, %f0}, [%1]!" : "=w"(to), "+r"(from));
}
template <int two>
OCTET_INLINE inline void load_columns(int8x16_t& b0, int8x16_t& b1, const uint8_t*& from) {
  load16_step(b0, from);
  load16_step(b1, from);
}
// Loads two columns of 16 bytes; the address advances in the same instruction.
template <int two>
OCTET_INLINE inline void load_half_columns(int8x16_t& b0, int8x16_t& b1, const uint8_t*& from) {
  load_columns<two>(b0, b1, from);
}
template <int offset>
OCTET_INLINE inline void load_low(int8x16_t& to, const uint8_t* from) {
  __asm__ volatile("vld1.8 {%e0}, [%1]" : "=w"(to) : "r"(from + offset));
}

#endif

// Load the first two of four columns (part 0), the others (1), or all (2): then by one instruction
// where registers can be neighbours.
template <int part>
OCTET_INLINE inline void load_part_of_columns(int8x16_t (&b)[4], const uint8_t*& from) {
#if defined(__aarch64__)
  if constexpr (part == 2) return load_columns_list<4>(b, from);
#endif
  if constexpr (part != 1) load_columns<0>(b[0], b[1], from);
  if constexpr (part != 0) load_columns<1>(b[2], b[3], from);
}
template <int part>
OCTET_INLINE inline void load_part_of_halves(int8x16_t (&b)[4], const uint8_t*& from) {
  if constexpr (part != 1) load_half_columns<0>(b[0], b[1], from);
  if constexpr (part != 0) load_half_columns<1>(b[2], b[3], from);
}

// Multiply the low halves, and the high halves.
OCTET_INLINE inline int16x8_t multiply_low(int8x16_t a, int8x16_t b) {
  int16x8_t products;
  __asm__ volatile(OCTET_SPELLED("smull %0.8h, %1.8b, %2.8b", "vmull.s8 %q0, %e1, %e2")
                   : "=w"(products)
                   : "w"(a), "w"(b));
  return products;
}
OCTET_INLINE inline int16x8_t multiply_high(int8x16_t a, int8x16_t b) {
  int16x8_t products;
  __asm__ volatile(OCTET_SPELLED("smull2 %0.8h, %1.16b, %2.16b", "vmull.s8 %q0, %f1, %f2")
                   : "=w"(products)
                   : "w"(a), "w"(b));
  return products;
}
OCTET_INLINE inline void multiply_add_low(int16x8_t& products, int8x16_t a, int8x16_t b) {
  __asm__ volatile(OCTET_SPELLED("smlal %0.8h, %1.8b, %2.8b", "vmlal.s8 %q0, %e1, %e2")
                   : "+w"(products)
                   : "w"(a), "w"(b));
}
OCTET_INLINE inline void multiply_add_high(int16x8_t& products, int8x16_t a, int8x16_t b) {
  __asm__ volatile(OCTET_SPELLED("smlal2 %0.8h, %1.16b, %2.16b", "vmlal.s8 %q0, %f1, %f2")
                   : "+w"(products)
                   : "w"(a), "w"(b));
}
OCTET_INLINE inline int32x4_t pairs(int16x8_t products) {
  int32x4_t sums;
  __asm__ volatile(OCTET_SPELLED("saddlp %0.4s, %1.8h", "vpaddl.s16 %q0, %q1")
                   : "=w"(sums)
                   : "w"(products));
  return sums;
}
OCTET_INLINE inline void add_pairs(int32x4_t& sums, int16x8_t products) {
  __asm__ volatile(OCTET_SPELLED("sadalp %0.4s, %1.8h", "vpadal.s16 %q0, %q1")
                   : "+w"(sums)
                   : "w"(products));
}

#undef OCTET_SPELLED

}  // namespace
}  // namespace octet
