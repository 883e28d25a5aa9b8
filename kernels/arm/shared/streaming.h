// SPDX-License-Identifier: Apache-2.0
// Products of SME's ZA tiles, and the state of ZA that a thread may have before them.
//
// Streaming mode begins and ends within one statement of assembly: compilers know nothing of it,
// most of NEON's instructions trap in it where FEAT_SME_FA64 is missing (Apple's CPUs), and SVE's
// trap outside of it where there is no SVE. RDSVL is an instruction of both modes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/compiler.h"

namespace octet {
namespace {

// One product of four ZA tiles: two vectors of rows by two vectors of columns, or fewer. A lane of
// a vector has 4 depth steps.
struct TilesProduct {
  const uint8_t* lhs;     // two vectors, side by side
  const uint8_t* rhs[2];  // the vectors of columns
  int32_t* sums;
  uint32_t bytes[2];     // of each vector of columns; 0: the second does not exist
  uint32_t step[2];      // bytes between groups of each
  uint64_t groups;       // of 4 depth steps, not 0
  uint32_t lhs_step;     // bytes between groups
  uint32_t two_heights;  // 0: there is one vector of rows
};
static_assert(sizeof(TilesProduct) == 64, "the assembly reads it by offsets");

// Bytes of a vector of lanes: those of a streaming vector, or of 16 lanes where it is longer.
inline size_t lanes_vector_bytes() {
  uint64_t bytes;
  __asm__(".arch_extension sme\n\trdsvl %0, #1" : "=r"(bytes));
  return bytes < 64 ? bytes : 64;
}

// Pieces of the loops over groups. Rows are loaded to z0 and z1, columns to z2 and z3.
#define OCTET_LOAD(vector, predicate, from, step) \
  "ld1b {" vector ".b}, " predicate "/z, [" from "]\n\tadd " from ", " from ", " step "\n\t"
#define OCTET_ROWS_0 OCTET_LOAD("z0", "p0", "x9", "x7")
#define OCTET_ROWS_1 OCTET_LOAD("z1", "p0", "x17", "x7")
#define OCTET_COLUMNS_0 OCTET_LOAD("z2", "p2", "x10", "x15")
#define OCTET_COLUMNS_1 OCTET_LOAD("z3", "p3", "x11", "x16")
#define OCTET_PRODUCT(tile, rows, columns) \
  "smopa " tile ".s, p0/m, p0/m, " rows ".b, " columns ".b\n\t"
#define OCTET_GROUPS(label, body) \
#label ":\n\t" body "subs x13, x13, #1\n\tb.ne " #label "b\n\tb 6f\n"

// Multiplies all of [product, end), not empty, and stores the sums of whole vectors: lanes that do
// not exist have any. vector: its bytes, at most 64; sums_stride: bytes between rows of sums.
inline void multiply_za_tiles(const TilesProduct* product, const TilesProduct* end, size_t vector,
                              size_t sums_stride) {
  __asm__ volatile(
      ".arch_extension sme\n\t"
      "smstart\n\t"
      "whilelo p0.b, xzr, %[vector]\n\t"
      "lsr x13, %[vector], #2\n\t"
      "whilelo p1.s, xzr, x13\n"
      "1:\n\t"
      "ldp x9, x10, [%[product]]\n\t"        // lhs, rhs[0]
      "ldr x11, [%[product], #16]\n\t"       // rhs[1]
      "ldp w13, w14, [%[product], #32]\n\t"  // bytes
      "ldp w15, w16, [%[product], #40]\n\t"  // step
      "ldp w7, w8, [%[product], #56]\n\t"    // lhs_step, two_heights
      "whilelo p2.b, xzr, x13\n\t"
      "whilelo p3.b, xzr, x14\n\t"
      "add x17, x9, %[vector]\n\t"
      "zero {za}\n\t"
      "ldr x13, [%[product], #48]\n\t"  // groups
      "cbz w8, 3f\n\t"
      "cbz x14, 4f\n"
      OCTET_GROUPS(2, OCTET_ROWS_0 OCTET_COLUMNS_0 OCTET_ROWS_1 OCTET_COLUMNS_1
                   OCTET_PRODUCT("za0", "z0", "z2") OCTET_PRODUCT("za2", "z1", "z2")
                   OCTET_PRODUCT("za1", "z0", "z3") OCTET_PRODUCT("za3", "z1", "z3"))
      "3:\n\t"
      "cbz x14, 5f\n"
      OCTET_GROUPS(7, OCTET_ROWS_0 OCTET_COLUMNS_0 OCTET_COLUMNS_1
                   OCTET_PRODUCT("za0", "z0", "z2") OCTET_PRODUCT("za1", "z0", "z3"))
      OCTET_GROUPS(4, OCTET_ROWS_0 OCTET_COLUMNS_0 OCTET_ROWS_1
                   OCTET_PRODUCT("za0", "z0", "z2") OCTET_PRODUCT("za2", "z1", "z2"))
      OCTET_GROUPS(5, OCTET_ROWS_0 OCTET_COLUMNS_0 OCTET_PRODUCT("za0", "z0", "z2"))
      "6:\n\t"
      "ldr x9, [%[product], #24]\n\t"  // sums: rows of za0 and za1, those of za2 and za3 below
      "lsr x14, %[vector], #2\n\t"
      "madd x10, x14, %[sums_stride], x9\n\t"
      "mov w12, #0\n"
      "8:\n\t"
      "add x11, x9, %[vector]\n\t"
      "add x13, x10, %[vector]\n\t"
      "st1w {za0h.s[w12, 0]}, p1, [x9]\n\t"
      "st1w {za1h.s[w12, 0]}, p1, [x11]\n\t"
      "st1w {za2h.s[w12, 0]}, p1, [x10]\n\t"
      "st1w {za3h.s[w12, 0]}, p1, [x13]\n\t"
      "add x9, x9, %[sums_stride]\n\t"
      "add x10, x10, %[sums_stride]\n\t"
      "add w12, w12, #1\n\t"
      "cmp w12, w14\n\t"
      "b.lo 8b\n\t"
      "add %[product], %[product], #64\n\t"
      "cmp %[product], %[end]\n\t"
      "b.ne 1b\n\t"
      "smstop\n\t"
      : [product] "+&r"(product)
      : [end] "r"(end), [vector] "r"(vector), [sums_stride] "r"(sums_stride)
      // SMSTART and SMSTOP clear all vectors, predicates too
      : "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "v0", "v1", "v2",
        "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",
        "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29",
        "v30", "v31", "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11",
        "p12", "p13", "p14", "p15", "cc", "memory");
}

#undef OCTET_LOAD
#undef OCTET_ROWS_0
#undef OCTET_ROWS_1
#undef OCTET_COLUMNS_0
#undef OCTET_COLUMNS_1
#undef OCTET_PRODUCT
#undef OCTET_GROUPS

// ZA is dormant where a caller's caller left sums in it: TPIDR2_EL0 then points at a block that
// says where they go before ZA is used anew (AAPCS64, "ZA lazy saving scheme"). This does what
// __arm_tpidr2_save does, which older run-time libraries of compilers lack, and leaves ZA off. The
// block's last six bytes are reserved and 0 today: a form of block that sets them is unknown here.
inline void save_dormant_za() {
  struct Save {
    uint8_t* buffer;
    uint16_t slices;
  };
  const Save* save;
  __asm__ volatile("mrs %0, S3_3_C13_C0_5" : "=r"(save));  // TPIDR2_EL0
  if (__builtin_expect(!save, 1)) return;
  uint8_t* to = save->buffer;
  const uint64_t slices = to ? save->slices : 0;
  __asm__ volatile(
      ".arch_extension sme\n\t"
      "rdsvl x13, #1\n\t"
      "mov w12, #0\n"
      "1:\n\t"
      "cmp w12, %w[slices]\n\t"
      "b.hs 2f\n\t"
      "str za[w12, 0], [%[to]]\n\t"
      "add %[to], %[to], x13\n\t"
      "add w12, w12, #1\n\t"
      "b 1b\n"
      "2:\n\t"
      "smstop za\n\t"
      "msr S3_3_C13_C0_5, xzr"
      : [to] "+&r"(to)
      : [slices] "r"(slices)
      : "x12", "x13", "cc", "memory");
}

}  // namespace
}  // namespace octet
