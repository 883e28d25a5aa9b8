// SPDX-License-Identifier: Apache-2.0
// The tile of neon_int8.h, and the ends of its panels: init, requantizing, stores.
#pragma once

#include "kernels/arm/shared/layouts.h"
#include "kernels/arm/shared/requantize.h"
#include "kernels/arm/shared/store_floats.h"
#include "kernels/core/compiler.h"

namespace octet {
namespace {

#if defined(__aarch64__)
constexpr int kMr = 4, kTogetherOfTwo = 2, kLoadsAhead = 1;
#else
constexpr int kMr = 2, kTogetherOfTwo = 1, kLoadsAhead = 2;
#endif
constexpr int kWidth = 4, kNr = 64;
static_assert(kNeonLayout.step == kWidth && kNeonLayout.width == kWidth,
              "every panel has exactly 4 columns: the groups' stride is a constant");

// Stores four bytes of a row of outputs at any alignment, then advances by `step` bytes. Assembly,
// because on 32-bit Arm Clang assumes that a store is aligned to its type, and GCC 12 computes the
// next address separately.
#if defined(__aarch64__)
typedef uint32_t Quad __attribute__((aligned(1)));

template <int i>
OCTET_INLINE inline void store_quad(uint8_t*& to, uint8x8_t bytes, ptrdiff_t step) {
  vst1_lane_u32((Quad*)to, vreinterpret_u32_u8(bytes), i);
  to += step;
}
template <int i>
OCTET_INLINE inline void store_quad(uint8_t*& to, uint8x16_t bytes, ptrdiff_t step) {
  vst1q_lane_u32((Quad*)to, vreinterpretq_u32_u8(bytes), i);
  to += step;
}
OCTET_INLINE inline int32x4_t load_init(const int32_t*& from, ptrdiff_t step) {
  const int32x4_t four = vld1q_s32(from);
  from = (const int32_t*)((const uint8_t*)from + step);
  return four;
}
#else
template <int i>
OCTET_INLINE inline void store_quad(uint8_t*& to, uint8x8_t bytes, ptrdiff_t step) {
  __asm__ volatile("vst1.32 {%P1[%c2]}, [%0], %3"
                   : "+r"(to)
                   : "w"(bytes), "n"(i), "r"(step)
                   : "memory");
}
OCTET_INLINE inline int32x4_t load_init(const int32_t*& from, ptrdiff_t step) {
  int32x4_t four;
  __asm__ volatile("vld1.32 {%e0, %f0}, [%1], %2" : "=w"(four), "+r"(from) : "r"(step) : "memory");
  return four;
}
#endif

// Two rows of four columns are eight bytes, so constants take half a register.
template <int rows>
inline auto requantizing_of(const Requantization& n) {
  if constexpr (rows <= 2)
    return Requantizing8(requantizing16(n));
  else
    return requantizing16(n);
}

// Subtracts Tile::row_factors times column_factors of a panel, and passes them.
template <int rows>
OCTET_INLINE inline void subtract_factors(const int32_t* of_rows, const int32_t*& of_columns,
                                          int32x4_t (&sum)[rows]) {
  const int32x4_t factors = vld1q_s32(of_columns);
  of_columns += kWidth;
  unroll<rows>([&](auto i) OCTET_INLINE {
    sum[i] = vmlsq_s32(sum[i], factors, vld1q_dup_s32(of_rows + i));
  });
}

// down, up: bytes to the next row, and from the last row to the next panel's first.
template <int rows, typename Scale, typename Requantizing>
OCTET_INLINE inline void store_bytes(const Scale& by, const int32x4_t (&sum)[rows],
                                     const Requantizing& requantization, uint8_t*& dst,
                                     ptrdiff_t down, ptrdiff_t up) {
  const auto bytes = [&]() OCTET_INLINE {
    if constexpr (rows <= 2)
      return requantized<Store::kClamped>(sum[0], sum[rows - 1], by, requantization);
    else
      return requantized<Store::kClamped>({sum[0], sum[1], sum[2], sum[rows - 1]}, {by, by, by, by},
                                          requantization);
  }();
  unroll<rows>([&](auto i) OCTET_INLINE {
    store_quad<decltype(i)::value>(dst, bytes, i == rows - 1 ? up : down);
  });
}

template <int rows>
OCTET_INLINE inline void store_floats(const Tile& t, const float* scale,
                                      const int32x4_t (&sum)[rows], uint8_t*& dst, ptrdiff_t down,
                                      ptrdiff_t up) {
  FloatColumns by = FloatColumns::at(scale, t.requantization->bias_apart);
  by_row_scaled(t.row_scale, [&](auto row_scaled) OCTET_INLINE {
    unroll<rows>([&](auto i) OCTET_INLINE {
      vst1q_f32((float*)dst, floats<row_scaled>(sum[i], by, [&]() OCTET_INLINE {
                  return vld1q_dup_f32(t.row_scale + i);
                }));
      dst += i == rows - 1 ? up : down;
    });
  });
}

}  // namespace
}  // namespace octet
