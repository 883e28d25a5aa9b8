// SPDX-License-Identifier: Apache-2.0
// s16 x s16 -> s32 on AArch64, up to 8 rows x 8 columns (shared/neon_int16.h), and for rows by
// eights along depth: two LD1 of four registers load eight steps of eight rows.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/neon_int16.h"

namespace octet {
namespace {

// One block of assembly, because compilers do not keep lists of registers in place: v0 to v7 are
// rows, two of v8 to v23 sums of a row, v24 to v31 columns.
#define ROW(op, k, b, a, low, high)                                                          \
  op " v" #low ".4s, v" #b ".4h, v" #a ".h[" #k "]\n" op "2 v" #high ".4s, v" #b ".8h, v" #a \
     ".h[" #k "]\n"
#define STEP1(op, k, b) ROW(op, k, b, 0, 8, 9)
#define STEP2(op, k, b) STEP1(op, k, b) ROW(op, k, b, 1, 10, 11)
#define STEP4(op, k, b) \
  STEP2(op, k, b)       \
  ROW(op, k, b, 2, 12, 13) ROW(op, k, b, 3, 14, 15)
#define STEP8(op, k, b)    \
  STEP4(op, k, b)          \
  ROW(op, k, b, 4, 16, 17) \
  ROW(op, k, b, 5, 18, 19) ROW(op, k, b, 6, 20, 21) ROW(op, k, b, 7, 22, 23)
#define LOAD1 "ld1 {v0.8h}, [%[lhs]], %[step]\n"
#define LOAD2 "ld1 {v0.8h, v1.8h}, [%[lhs]], %[step]\n"
#define LOAD4 "ld1 {v0.8h, v1.8h, v2.8h, v3.8h}, [%[lhs]], %[step]\n"
#define LOAD8                                         \
  "ld1 {v0.8h, v1.8h, v2.8h, v3.8h}, [%[lhs]], #64\n" \
  "ld1 {v4.8h, v5.8h, v6.8h, v7.8h}, [%[lhs]], %[step]\n"
#define COLUMNS(a, b, c, d) "ld1 {v" #a ".8h, v" #b ".8h, v" #c ".8h, v" #d ".8h}, [%[rhs]], #64\n"
#define CLEAR(i) "movi v" #i ".4s, #0\n"
#define CLEAR4(a, b, c, d) CLEAR(a) CLEAR(b) CLEAR(c) CLEAR(d)
#define NEXT(i) "ext v" #i ".16b, v" #i ".16b, v" #i ".16b, #2\n"
#define STORE2(a, b) "st1 {v" #a ".4s, v" #b ".4s}, [%[dst]], #32\n"
#define STORE4(a, b, c, d) "st1 {v" #a ".4s, v" #b ".4s, v" #c ".4s, v" #d ".4s}, [%[dst]], #64\n"
#define STORES1 STORE2(8, 9)
#define STORES2 STORE4(8, 9, 10, 11)
#define STORES4 STORES2 STORE4(12, 13, 14, 15)
#define STORES8 STORES4 STORE4(16, 17, 18, 19) STORE4(20, 21, 22, 23)

#define FIRST(op, rows) LOAD##rows COLUMNS(24, 25, 26, 27) STEP##rows(op, 0, 24)
#define REST(rows)                                                                     \
  COLUMNS(28, 29, 30, 31)                                                              \
  STEP##rows("smlal", 1, 25) STEP##rows("smlal", 2, 26) STEP##rows("smlal", 3, 27)     \
      STEP##rows("smlal", 4, 28) STEP##rows("smlal", 5, 29) STEP##rows("smlal", 6, 30) \
          STEP##rows("smlal", 7, 31)

// Two groups per iteration; the first step writes the sums.
#define MULTIPLY(rows)                                                                        \
  {                                                                                           \
    const uint8_t *a = lhs, *b = rhs;                                                         \
    size_t groups = depth / 8, twice = (groups + 1) / 2, tail = depth % 8;                    \
    __asm__ volatile(                                                                       \
        "cbz %[groups], 4f\n" FIRST("smull", rows)                                          \
        "tbnz %[groups], #0, 3f\n"                                                          \
        "b 2f\n"                                                                            \
        "1:\n" FIRST("smlal", rows)                                                         \
        "2:\n" REST(rows) FIRST("smlal", rows)                                              \
        "3: subs %[twice], %[twice], #1\n" REST(rows)                                       \
        "b.ne 1b\n"                                                                         \
        "b 5f\n"                                                                            \
        "4:\n" CLEAR4(8, 9, 10, 11) CLEAR4(12, 13, 14, 15) CLEAR4(16, 17, 18, 19)           \
        CLEAR4(20, 21, 22, 23)                                                              \
        "5: cbz %[tail], 7f\n" LOAD##rows                                                   \
        "6: ld1 {v24.8h}, [%[rhs]], #16\n" STEP##rows("smlal", 0, 24) NEXT(0) NEXT(1)       \
        NEXT(2) NEXT(3) NEXT(4) NEXT(5) NEXT(6) NEXT(7)                                     \
        "subs %[tail], %[tail], #1\n"                                                       \
        "b.ne 6b\n"                                                                         \
        "7:\n" STORES##rows                                                                 \
        : [lhs] "+r"(a), [rhs] "+r"(b), [twice] "+r"(twice), [tail] "+r"(tail),             \
          [dst] "+r"(dst)                                                                   \
        : [groups] "r"(groups), [step] "r"(step - (rows == 8 ? 64 : 0))                     \
        : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",  \
          "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",      \
          "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory"); \
    lhs += 16 * rows;                                                                         \
  }

void multiply_eights(const Tile& t) {
  const uint8_t *tap_lhs = (const uint8_t*)t.lhs, *rhs = t.rhs;
  uint8_t* tap_dst = (uint8_t*)t.dst;
  const size_t rows = t.rows, depth = t.depth, step = t.lhs_stride;
  const ptrdiff_t* const steps = t.tap_steps;
  for (size_t taps = t.taps; taps; --taps) {
    const uint8_t* lhs = tap_lhs;
    uint8_t* dst = tap_dst;
    for (size_t eights = rows / 8; eights; --eights) MULTIPLY(8)
    if (rows & 4) MULTIPLY(4)
    if (rows & 2) MULTIPLY(2)
    if (rows & 1) MULTIPLY(1)
    tap_lhs += steps[0], rhs += steps[1], tap_dst += steps[2];
  }
}

constexpr MicroKernel with_eights() {
  MicroKernel k = int16_kernel_of("neon_s16s16_8x8x1");
  k.multiply_eights = multiply_eights;
  return k;
}

}  // namespace

const MicroKernel neon_s16s16_8x8x1 = with_eights();

}  // namespace octet
