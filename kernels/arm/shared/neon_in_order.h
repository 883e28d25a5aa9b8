// SPDX-License-Identifier: Apache-2.0
// The depth loop of neon_int8.h for in-order cores. Cortex-A53 issues a load of 128 bits instead of
// two products, and one of 64 bits instead of one, but an insertion beside the latter. So each
// vector is loaded in halves, the second one through an integer register beside a product, and
// inserted beside the next vector's first half: a cycle per vector instead of two.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {
namespace {

struct InOrder {
  // Fewer steps save less than the sums' way through memory costs: 16 cycles per two steps
  static constexpr size_t kLeastSteps = 16;
};

// One block of assembly, because compilers copy or spill what is loaded ahead: v0 to v15 are
// accumulators, v16 to v23 rows of a step and of the next one, v24 to v27 columns, v28 to v31
// products.
#define PRODUCTS(op, suffix, a, p, b) op " v" #p ".8h, v" #a suffix ", v" #b suffix "\n"
#define LOAD(first, from, last) \
  "ldr d" #first ", [%[" #from "]], #16\n ins v" #last ".d[1], %[high]\n"
#define LOAD_REST(from) "ldr %[high], [%[" #from "], #-8]\n"
#define SUM(acc, p) "sadalp v" #acc ".4s, v" #p ".8h\n"
// Multiplies rows a, b, c, d by a column and adds to r, s, t, u; loads v from x and w from y.
#define COLUMN(a, b, c, d, column, r, s, t, u, v, x, before, w, y) \
  PRODUCTS("smull", ".8b", a, 28, column)                          \
  PRODUCTS("smull", ".8b", b, 29, column)                          \
  PRODUCTS("smull", ".8b", c, 30, column)                          \
  LOAD(v, x, before)                                               \
  PRODUCTS("smull", ".8b", d, 31, column)                          \
  LOAD_REST(x)                                                     \
  PRODUCTS("smlal2", ".16b", a, 28, column)                        \
  PRODUCTS("smlal2", ".16b", b, 29, column)                        \
  PRODUCTS("smlal2", ".16b", c, 30, column)                        \
  PRODUCTS("smlal2", ".16b", d, 31, column)                        \
  SUM(r, 28) LOAD(w, y, v) SUM(s, 29) LOAD_REST(y) SUM(t, 30) SUM(u, 31)
// A step by rows a, b, c, d, which loads the rows e, f, g, h of the next one.
#define STEP(a, b, c, d, e, f, g, h)                         \
  COLUMN(a, b, c, d, 24, 0, 4, 8, 12, e, row0, 25, 26, rhs)  \
  COLUMN(a, b, c, d, 25, 1, 5, 9, 13, f, row1, 26, 27, rhs)  \
  COLUMN(a, b, c, d, 26, 2, 6, 10, 14, g, row2, 27, h, row3) \
  COLUMN(a, b, c, d, 27, 3, 7, 11, 15, 24, rhs, h, 25, rhs)
#define CLEAR4(a, b, c, d) CLEAR(a) CLEAR(b) CLEAR(c) CLEAR(d)
#define CLEAR(i) "movi v" #i ".4s, #0\n"
#define STORE4(a, b, c, d) "st1 {v" #a ".4s, v" #b ".4s, v" #c ".4s, v" #d ".4s}, [%[sums]], #64\n"

// Multiplies pairs of steps of 16 along depth as long as one is left after them, which their loads
// ahead read, stores the sums of four rows by four columns and returns the number of steps.
__attribute__((noinline)) size_t multiply_in_order(const uint8_t* const* lhs, const uint8_t* rhs,
                                                   size_t steps, int32_t* sums) {
  const uint8_t *row0 = lhs[0], *row1 = lhs[1], *row2 = lhs[2], *row3 = lhs[3];
  size_t twice = (steps - 1) / 2;
  uint64_t high;
  __asm__ volatile(
      CLEAR4(0, 1, 2, 3) CLEAR4(4, 5, 6, 7) CLEAR4(8, 9, 10, 11) CLEAR4(12, 13, 14, 15)
      "ldr q16, [%[row0]], #16\n ldr q17, [%[row1]], #16\n"
      "ldr q18, [%[row2]], #16\n ldr q19, [%[row3]], #16\n"
      "ldr q24, [%[rhs]], #16\n ldr d25, [%[rhs]], #16\n" LOAD_REST(rhs)
      "1:\n" STEP(16, 17, 18, 19, 20, 21, 22, 23)
      "subs %[twice], %[twice], #1\n" STEP(20, 21, 22, 23, 16, 17, 18, 19)
      "b.ne 1b\n" STORE4(0, 1, 2, 3) STORE4(4, 5, 6, 7) STORE4(8, 9, 10, 11) STORE4(12, 13, 14, 15)
      : [row0] "+r"(row0), [row1] "+r"(row1), [row2] "+r"(row2), [row3] "+r"(row3),
        [rhs] "+r"(rhs), [twice] "+r"(twice), [sums] "+r"(sums), [high] "=&r"(high)
      :
      : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",
        "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26",
        "v27", "v28", "v29", "v30", "v31", "cc", "memory");
  return (steps - 1) / 2 * 2;
}

#undef PRODUCTS
#undef LOAD
#undef LOAD_REST
#undef SUM
#undef COLUMN
#undef STEP
#undef CLEAR4
#undef CLEAR
#undef STORE4

}  // namespace
}  // namespace octet
