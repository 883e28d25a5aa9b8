// SPDX-License-Identifier: Apache-2.0
// Blocks of two rows x two columns, as SMMLA accumulates them: they start from the init, and are
// stored as s32, f32 or 8 bits. A pair of rows has four blocks, of 8 columns.
#pragma once

#include "kernels/arm/shared/copy_bytes.h"
#include "kernels/arm/shared/pinned.h"
#include "kernels/arm/shared/requantize.h"
#include "kernels/arm/shared/store_floats.h"
#include "kernels/core/compiler.h"

namespace octet {
namespace {

inline int32x4_t zip_low(int32x4_t a, int32x4_t b) {
  return vreinterpretq_s32_s64(vzip1q_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
}
inline int32x4_t zip_high(int32x4_t a, int32x4_t b) {
  return vreinterpretq_s32_s64(vzip2q_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
}

// ---- products -----------------------------------------------------------------------------------

// The three instructions.
struct S8S8 {
  OCTET_INLINE static inline void mmla(int32x4_t& acc, int8x16_t a, int8x16_t b) {
    __asm__ volatile("smmla %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(a), "w"(b));
  }
};
struct U8S8 {
  OCTET_INLINE static inline void mmla(int32x4_t& acc, int8x16_t a, int8x16_t b) {
    __asm__ volatile("usmmla %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(a), "w"(b));
  }
};
struct U8U8 {
  OCTET_INLINE static inline void mmla(int32x4_t& acc, int8x16_t a, int8x16_t b) {
    __asm__ volatile("ummla %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(a), "w"(b));
  }
};

// Loads pairs of rows p and p + 1, if there are two, of a group of 8 along depth of a panel. The
// first load advances the address.
template <int pairs, int p>
OCTET_INLINE inline void load_rows(int8x16_t (&a)[2], const uint8_t*& lhs) {
  constexpr int kGroup = 16 * pairs;  // bytes
  if constexpr (pairs == 1)
    load16_step(a[0], lhs);
  else if constexpr (p + 1 == pairs)
    load16<16 * p - kGroup>(a[0], lhs);
  else if constexpr (p == 0)
    load_two_step<kGroup>(a[0], a[1], lhs);
  else
    load_two<16 * p - kGroup>(a[0], a[1], lhs);
}

// ---- starts -------------------------------------------------------------------------------------

// Bytes from row 2p to the row below it, or 0 if there is none. The second row is stored first, so
// that the first overwrites it.
template <int pairs>
inline size_t second_row(bool odd, int p, size_t stride) {
  return p == pairs - 1 && odd ? 0 : stride;
}

// Loads one row of init for all rows: it is stored once in the accumulators' order and loaded for
// each pair. Next to a store of outputs, loads are free but register copies are not.
template <int pairs>
OCTET_INLINE inline void start_alike(const int32_t* init, uint8_t* blocks,
                                     int32x4_t (&acc)[pairs][4]) {
  uint64_t two[4];
  OCTET_UNROLL(4)
  for (int j = 0; j < 4; ++j) two[j] = load8((const uint8_t*)(init + 2 * j));
  // Else compilers go through vectors
  __asm__("" : "+r"(two[0]), "+r"(two[1]), "+r"(two[2]), "+r"(two[3]));
  OCTET_UNROLL(4)
  for (int j = 0; j < 4; ++j) {
    store8(two[j], blocks + 16 * j);
    store8(two[j], blocks + 16 * j + 8);
  }
  OCTET_UNROLL(6)
  for (int p = 0; p < pairs; ++p) {
    __asm__("" : : "r"(blocks) : "memory");  // else compilers load once and copy
    OCTET_UNROLL(4)
    for (int j = 0; j < 4; ++j) acc[p][j] = vreinterpretq_s32_u8(vld1q_u8(blocks + 16 * j));
  }
}

template <int pairs>
OCTET_INLINE inline void start_rows(const int32_t* init, size_t stride, bool odd,
                                    int32x4_t (&acc)[pairs][4]) {
  OCTET_UNROLL(6)
  for (int p = 0; p < pairs; ++p, init += 2 * stride) {
    const int32_t* const row1 = init + second_row<pairs>(odd, p, stride);
    const int32x4_t a0 = vld1q_s32(init), a1 = vld1q_s32(row1), b0 = vld1q_s32(init + 4),
                    b1 = vld1q_s32(row1 + 4);
    acc[p][0] = zip_low(a0, a1);
    acc[p][1] = zip_high(a0, a1);
    acc[p][2] = zip_low(b0, b1);
    acc[p][3] = zip_high(b0, b1);
  }
}

// Writes one value per row, of 32 bits, as blocks want them: each twice.
template <int pairs>
OCTET_INLINE inline void pair_rows(const void* values, bool odd, int32_t* blocks) {
  const int32_t* const of_rows = (const int32_t*)values;
  unroll<(pairs + 1) / 2>([&](auto half) OCTET_INLINE {
    constexpr bool two = 2 * half + 1 < pairs, last = half == (pairs - 1) / 2;
    const int32_t* const from = of_rows + 4 * half;
    int32x4_t four;
    if (last && odd)
      four = two ? vcombine_s32(vld1_s32(from), vld1_dup_s32(from + 2)) : vld1q_dup_s32(from);
    else
      four = two ? vld1q_s32(from) : vcombine_s32(vld1_s32(from), vdup_n_s32(0));
    vst1q_s32(blocks + 8 * half, vzip1q_s32(four, four));
    if (two) vst1q_s32(blocks + 8 * half + 4, vzip2q_s32(four, four));
  });
}

// Subtracts factors of rows, from pair_rows, times column_factors from the blocks.
template <int pairs>
OCTET_INLINE inline void subtract_factors(const int32_t* of_rows, const int32_t* of_columns,
                                          int32x4_t (&acc)[pairs][4]) {
  int32x4_t columns[4];
  unroll<2>([&](auto half) OCTET_INLINE {
    const int32x4_t four = vld1q_s32(of_columns + 4 * half);
    columns[2 * half] = zip_low(four, four);
    columns[2 * half + 1] = zip_high(four, four);
  });
  unroll<(pairs + 1) / 2>([&](auto half) OCTET_INLINE {
    int32x4_t rows[2];
    load_two<32 * half>(rows[0], rows[1], of_rows);
    unroll<(2 * half + 1 < pairs ? 2 : 1)>([&](auto i) OCTET_INLINE {
      unroll<4>([&](auto j) OCTET_INLINE {
        int32x4_t& block = acc[2 * half + i][j];
        block = vmlsq_s32(block, columns[j], rows[i]);
      });
    });
  });
}

// ---- stores -------------------------------------------------------------------------------------

// Stores the first rows of two blocks, side by side: one instruction in place of two.
template <typename Value>
OCTET_INLINE inline void store_low_halves(int32x4_t a, int32x4_t b, Value* to) {
  __asm__ volatile("stp %d0, %d1, [%2]" : : "w"(a), "w"(b), "r"(to) : "memory");
}

template <int pairs>
OCTET_INLINE inline void store_s32(const int32x4_t (&acc)[pairs][4], uint8_t* dst, size_t stride,
                                   bool odd) {
  OCTET_UNROLL(6)
  for (int p = 0; p < pairs; ++p, dst += 2 * stride) {
    int32_t* const row0 = (int32_t*)dst;
    int32_t* const row1 = (int32_t*)(dst + second_row<pairs>(odd, p, stride));
    vst1q_s32(row1, zip_high(acc[p][0], acc[p][1]));
    vst1q_s32(row1 + 4, zip_high(acc[p][2], acc[p][3]));
    store_low_halves(acc[p][0], acc[p][1], row0);
    store_low_halves(acc[p][2], acc[p][3], row0 + 4);
  }
}

// row_scale: null, or from pair_rows.
template <int pairs>
OCTET_INLINE inline void store_floats(const Tile& t, const float* scales, const float* row_scale,
                                      const int32x4_t (&acc)[pairs][4], uint8_t* dst, size_t stride,
                                      bool odd) {
  size_t twice = 2 * stride;
  __asm__("" : "+r"(twice));  // else GCC 12 adds the stride twice
  by_row_scaled(row_scale, [&](auto row_scaled) OCTET_INLINE {
    unroll<2>([&](auto half) OCTET_INLINE {
      const FloatColumns four = FloatColumns::at(scales + 4 * half, t.requantization->bias_apart);
      FloatColumns by[2] = {four.shuffled([](int32x4_t x) OCTET_INLINE { return zip_low(x, x); }),
                            four.shuffled([](int32x4_t x) OCTET_INLINE { return zip_high(x, x); })};
      uint8_t* to = dst + 16 * half;
      unroll<pairs>([&](auto p) OCTET_INLINE {
        const size_t below = second_row<pairs>(odd, p, stride);
        int32x4_t x[2];
        unroll<2>([&](auto j) OCTET_INLINE {
          x[j] = vreinterpretq_s32_f32(
              floats<row_scaled>(acc[p][2 * half + j], by[j],
                                 [&]() OCTET_INLINE { return vld1q_f32(row_scale + 4 * p); }));
        });
        vst1q_s32((int32_t*)(to + below), zip_high(x[0], x[1]));
        store_low_halves(x[0], x[1], to);
        to += twice;
      });
    });
  });
}

template <int pairs, Store store>
OCTET_INLINE inline void store_requantized(const int32x4_t (&acc)[pairs][4], const float* scales,
                                           size_t apart, const Requantizing16 n, uint8_t* dst,
                                           size_t stride, bool odd) {
  using Scale = typename ScaleOf<store>::Type;
  Scale scale[4];  // for columns 2j, 2j + 1, 2j, 2j + 1
  OCTET_UNROLL(4)
  for (int j = 0; j < 4; ++j) {
    scale[j] = Scale::at(scales + j / 2 * 4, apart).shuffled([j](int32x4_t four) OCTET_INLINE {
      return j % 2 ? zip_high(four, four) : zip_low(four, four);
    });
  }
  // Each 32 bits of bytes hold two bytes of the first row and two bytes of the second.
  unroll<(pairs + 1) / 2>([&](auto two) OCTET_INLINE {
    constexpr int p = 2 * two, q = p + 1 < pairs ? p + 1 : p;
    uint16x8_t bytes[2];
    bytes[0] = bytes[1] = vreinterpretq_u16_u8(requantized<store>(acc[p], scale, n));
    if (q != p) bytes[1] = vreinterpretq_u16_u8(requantized<store>(acc[q], scale, n));
    const uint8x16_t first = vreinterpretq_u8_u16(vuzp1q_u16(bytes[0], bytes[1])),
                     second = vreinterpretq_u8_u16(vuzp2q_u16(bytes[0], bytes[1]));
    if constexpr (q != p) {
      store8_row(first, dst, stride);
      store8_row(second, dst, stride);
    }
    if constexpr (q + 1 < pairs) {
      store8_high_row(first, dst, stride);
      store8_high_row(second, dst, stride);
    } else {
      vst1_u8(dst + second_row<pairs>(odd, q, stride), vget_high_u8(second));
      vst1_u8(dst, vget_high_u8(first));
    }
  });
}

}  // namespace
}  // namespace octet
