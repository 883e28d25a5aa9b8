// SPDX-License-Identifier: Apache-2.0
// Sums of u8 x s8 products, several in a register, chosen by the compiler's flags for the CPU:
//
//   vectors of 128 bits    four columns side by side; pairs of steps by a multiply-add instruction,
//                          where a compiler's builtin has one
//   64-bit registers       two rows side by side: (l0 + l1 * 2^32) * w is both products, and a sum
//                          of less than 2^16 of them, whose parts keep within 31 bits, is both sums
//   others                 one by one
//
// Sums<rows> holds the sums of `rows` rows and a panel of four columns; add_group adds four steps.
// kPanels: the panels whose sums of four rows fit the registers.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/compiler.h"
#include "kernels/scalar/vectors.h"

namespace octet {
namespace {

constexpr int kColumns = 4, kSteps = 4;
constexpr int kGroup = kColumns * kSteps;  // bytes of a panel's group

#if OCTET_VECTORS

typedef int32_t Columns __attribute__((vector_size(16)));
constexpr int kRowsOfSum = 1;
#if defined(__SSE2__) || (defined(__ARM_NEON) && !defined(__aarch64__))
constexpr int kPanels = 2;  // for 16 registers
#else
constexpr int kPanels = 4;
#endif

template <int rows>
struct Sums {
  Columns of_row[rows];
};

template <int rows>
OCTET_INLINE inline void clear(Sums<rows>* sums) {
  unroll<rows>([&](auto i) OCTET_INLINE { sums->of_row[i] = Columns{}; });
}

#if defined(__SSE2__) || defined(__VSX__)

typedef int16_t Int16 __attribute__((vector_size(16)));
typedef uint16_t UnsignedS16 __attribute__((vector_size(16)));

// Steps 0 and 2 (even), 1 and 3 (odd), as int16.
struct Pairs {
  Int16 even, odd;
};

OCTET_INLINE inline Columns add_pairs(Columns sum, Int16 l, Int16 w) {
#if defined(__SSE2__)
  return sum + (Columns)__builtin_ia32_pmaddwd128(l, w);
#else
  typedef __vector signed short Short;
  typedef __vector signed int Int4;
  return (Columns)__builtin_altivec_vmsumshm((Short)l, (Short)w, (Int4)sum);
#endif
}

// The pairs of one row, repeated for all columns.
OCTET_INLINE inline Pairs lhs_pairs(const uint8_t* lhs) {
  int32_t steps;
  __builtin_memcpy(&steps, lhs, sizeof steps);
  const UnsignedS16 all = (UnsignedS16)(Columns{} + steps);
  return {(Int16)(all & 0xff), (Int16)(all >> 8)};
}

OCTET_INLINE inline Pairs rhs_pairs(const uint8_t* rhs) {
  UnsignedS16 all;
  __builtin_memcpy(&all, rhs, sizeof all);
  return {(Int16)(all << 8) >> 8, (Int16)all >> 8};
}

template <int rows, int panels>
OCTET_INLINE inline void add_group(const uint8_t* lhs, const uint8_t* rhs, size_t panel_stride,
                                   Sums<rows> (&sums)[panels]) {
  Pairs l[rows];
  unroll<rows>([&](auto i) OCTET_INLINE { l[i] = lhs_pairs(lhs + i * kSteps); });
  unroll<panels>([&](auto p) OCTET_INLINE {
    const Pairs w = rhs_pairs(rhs + p * panel_stride);
    unroll<rows>([&](auto i) OCTET_INLINE {
      Columns& sum = sums[p].of_row[i];
      sum = add_pairs(add_pairs(sum, l[i].even, w.even), l[i].odd, w.odd);
    });
  });
}

#else

template <int rows, int panels>
OCTET_INLINE inline void add_group(const uint8_t* lhs, const uint8_t* rhs, size_t panel_stride,
                                   Sums<rows> (&sums)[panels]) {
  typedef uint32_t Bits __attribute__((vector_size(16)));
  unroll<panels>([&](auto p) OCTET_INLINE {
    Bits all;
    __builtin_memcpy(&all, rhs + p * panel_stride, sizeof all);
    unroll<kSteps>([&](auto k) OCTET_INLINE {
      const Columns w = (Columns)(all << (24 - 8 * k)) >> 24;
      unroll<rows>([&](auto i)
                       OCTET_INLINE { sums[p].of_row[i] += w * (int32_t)lhs[i * kSteps + k]; });
    });
  });
}

#endif

template <int rows>
OCTET_INLINE inline void store(const Sums<rows>& sums, uint32_t (*to)[kColumns]) {
  unroll<rows>([&](auto i) OCTET_INLINE {
    __builtin_memcpy(to[i], &sums.of_row[i], sizeof sums.of_row[i]);
  });
}

#else

#if UINTPTR_MAX > UINT32_MAX
typedef uint64_t Sum;
constexpr int kRowsOfSum = 2, kPanels = 2;
#else
typedef uint32_t Sum;
constexpr int kRowsOfSum = 1, kPanels = 1;
#endif
constexpr int kHalf = 4 * sizeof(Sum);

// A single row has a sum of its own.
constexpr int rows_of_sum(int rows) { return rows < kRowsOfSum ? rows : kRowsOfSum; }

// Keeps loads on their side of this point: compilers would load all bytes of a group first and have
// no registers left for the sums.
OCTET_INLINE inline void in_order(Sum a, Sum b) {
  __asm__ volatile("" : : "r"(a), "r"(b) : "memory");
}

template <int rows>
struct Sums {
  Sum of_rows[rows / rows_of_sum(rows)][kColumns];
};

template <int rows>
OCTET_INLINE inline void clear(Sums<rows>* sums) {
  unroll<rows / rows_of_sum(rows)>([&](auto i) OCTET_INLINE {
    unroll<kColumns>([&](auto j) OCTET_INLINE { sums->of_rows[i][j] = 0; });
  });
}

template <int rows, int panels>
OCTET_INLINE inline void add_group(const uint8_t* lhs, const uint8_t* rhs, size_t panel_stride,
                                   Sums<rows> (&sums)[panels]) {
  constexpr int kOfSum = rows_of_sum(rows), kSums = rows / kOfSum;
  unroll<kSteps>([&](auto k) OCTET_INLINE {
    Sum l[kSums];
    unroll<kSums>([&](auto i) OCTET_INLINE {
      const uint8_t* const at = lhs + i * kOfSum * kSteps + k;
      l[i] = at[0];
      if constexpr (kOfSum > 1) l[i] += (Sum)at[kSteps] << kHalf;
    });
    unroll<panels>([&](auto p) OCTET_INLINE {
      unroll<kColumns>([&](auto j) OCTET_INLINE {
        const Sum w = (Sum)(int8_t)rhs[p * panel_stride + j * kSteps + k];
        unroll<kSums>([&](auto i) OCTET_INLINE { sums[p].of_rows[i][j] += l[i] * w; });
        if constexpr (j % 2)
          unroll<kSums>([&](auto i) OCTET_INLINE {
            in_order(sums[p].of_rows[i][j - 1], sums[p].of_rows[i][j]);
          });
      });
    });
  });
}

template <int rows>
OCTET_INLINE inline void store(const Sums<rows>& sums, uint32_t (*to)[kColumns]) {
  constexpr int kOfSum = rows_of_sum(rows);
  unroll<rows / kOfSum>([&](auto i) OCTET_INLINE {
    unroll<kColumns>([&](auto j) OCTET_INLINE {
      const Sum both = sums.of_rows[i][j];
      to[kOfSum * i][j] = (uint32_t)both;
      // A negative lower sum has borrowed from the upper one
      if constexpr (kOfSum > 1)
        to[kOfSum * i + 1][j] = (uint32_t)(both >> kHalf) + ((uint32_t)both >> 31);
    });
  });
}

#endif

}  // namespace
}  // namespace octet
