// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 or 8 bits on AArch32, 2 rows x 64 columns at a time (shared/neon_int8.h). Calls of
// few columns take up to 16 rows, because with little depth a call costs as much as the products of
// two.
//
// Two rows of 17 to 32 bytes stay in four registers for all columns, as in shared/neon_shallow.h.
// Two columns at a time: 4 accumulators, 4 products, 2 of rhs, 1 for the sums of the first two.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/neon_int8.h"

namespace octet {
namespace {

// Whether multiply_shallow takes the tile: the usual cases only.
OCTET_INLINE inline bool is_shallow(const Tile& t) {
  return t.depth > 16 && t.depth <= 32 && t.taps == 1 && t.scale && t.init_stride == 0 &&
         t.cols % kWidth == 0 && !t.row_factors && store_of(t) == Store::kSaturated;
}

// Loads the first 16 and the last 16 bytes of a row; of the latter, those that the first lack, and
// zeros.
OCTET_INLINE inline void load_row(const uint8_t* row, size_t depth, uint8x16_t index,
                                  uint8x16_t flip, int8x16_t (&a)[2]) {
  a[0] = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(row), flip));
  a[1] = vreinterpretq_s8_u8(veorq_u8(vqtbl1q_u8(vld1q_u8(row + depth - 16), index), flip));
}

// Loads two columns of 16 bytes, and advances.
OCTET_INLINE inline void load_two_by(int8x16_t& b0, int8x16_t& b1, const uint8_t*& from,
                                     size_t step) {
  register int8x16_t first __asm__("q0");
  register int8x16_t second __asm__("q1");
  __asm__ volatile("vld1.8 {d0-d3}, [%2], %3" : "=w"(first), "=w"(second), "+r"(from) : "r"(step));
  b0 = first, b1 = second;
}

// Constants of the exit, which one instruction loads: no registers are left for them, and GCC 12
// would take four.
struct alignas(16) Rounding {
  float magic[4];
  int16_t zero_point[8];
  uint8x8_t flip;
};
OCTET_INLINE inline uint8x8_t requantize_two(int32x4_t row0, int32x4_t row1, const float*& scale,
                                             const Rounding& by) {
  register float32x4_t magic __asm__("q0");
  register int16x8_t zero_point __asm__("q1");
  const float32x4_t scales = vld1q_f32(scale);
  scale += kWidth;
  const float32x4_t x0 = vmulq_f32(vcvtq_f32_s32(row0), scales),
                    x1 = vmulq_f32(vcvtq_f32_s32(row1), scales);
  __asm__ volatile("vld1.8 {d0-d3}, [%2]" : "=w"(magic), "=w"(zero_point) : "r"(&by), "m"(by));
  const int16x8_t rounded = vuzp1q_s16(vreinterpretq_s16_f32(vaddq_f32(x0, magic)),
                                       vreinterpretq_s16_f32(vaddq_f32(x1, magic)));
  return veor_u8(vreinterpret_u8_s8(vqmovn_s16(vqaddq_s16(rounded, zero_point))), by.flip);
}

// Multiplies two rows by all columns.
template <bool int8_min>
OCTET_INLINE inline void multiply_two(const Tile& t, const int8x16_t (&a)[2][2], size_t step,
                                      const Rounding& rounding, uint8_t* to0, uint8_t* to1) {
  const uint8_t *first = t.rhs, *second = first + 16 * kWidth;
  const int32_t* init = t.init;
  const float* scale = t.scale;
  for (size_t panels = t.cols / kWidth; panels; --panels) {
    int32x4_t sums[2][2];
    unroll<2>([&](auto two) OCTET_INLINE {
      int32x4_t acc[2][2];
      unroll<2>([&](auto group) OCTET_INLINE {
        int8x16_t b[2];
        int16x8_t p[2][2];
        load_two_by(b[0], b[1], group ? second : first, two ? step : 32);
        const auto each = [&](const auto& f) OCTET_INLINE {
          unroll<2>([&](auto j) OCTET_INLINE {
            unroll<2>([&](auto i) OCTET_INLINE { f(acc[i][j], p[i][j], a[i][group], b[j]); });
          });
        };
        const auto add = [&](auto starts) OCTET_INLINE {
          each([&](int32x4_t& sum, int16x8_t& p, int8x16_t, int8x16_t) OCTET_INLINE {
            if constexpr (starts)
              sum = pairs(p);
            else
              add_pairs(sum, p);
          });
        };
        each([](int32x4_t&, int16x8_t& p, int8x16_t a, int8x16_t b)
                 OCTET_INLINE { p = multiply_low(a, b); });
        if constexpr (int8_min) {
          add(Int<group == 0>{});
          each([](int32x4_t&, int16x8_t& p, int8x16_t a, int8x16_t b)
                   OCTET_INLINE { p = multiply_high(a, b); });
          add(Int<0>{});
        } else {
          each([](int32x4_t&, int16x8_t& p, int8x16_t a, int8x16_t b)
                   OCTET_INLINE { multiply_add_high(p, a, b); });
          add(Int<group == 0>{});
        }
      });
      unroll<2>([&](auto i) OCTET_INLINE { sums[i][two] = vpaddq_s32(acc[i][0], acc[i][1]); });
    });
    const int32x4_t start = load_init(init, 16);
    const uint8x8_t bytes =
        requantize_two(vaddq_s32(vpaddq_s32(sums[0][0], sums[0][1]), start),
                       vaddq_s32(vpaddq_s32(sums[1][0], sums[1][1]), start), scale, rounding);
    store_quad<0>(to0, bytes, 4);
    store_quad<1>(to1, bytes, 4);
  }
}

template <bool int8_min>
__attribute__((noinline)) void multiply_shallow(const Tile& t) {
  static constexpr uint8_t kCount[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const Requantizing8 n(requantizing16(*t.requantization));
  Rounding rounding = {{12582912.0f, 12582912.0f, 12582912.0f, 12582912.0f}, {}, n.flip};
  vst1q_s16(rounding.zero_point, n.zero_point);
  const size_t depth = t.depth, step = t.rhs_panel_stride - 32;
  const uint8x16_t flip = vdupq_n_u8((uint8_t)t.lhs_flip),
                   index = vaddq_u8(vld1q_u8(kCount), vdupq_n_u8((uint8_t)(32 - depth)));
  const uint8_t *row0 = (const uint8_t*)t.lhs, *row1 = row0 + t.lhs_stride;
  if (t.lhs_rows) row0 = t.lhs_rows[0], row1 = t.lhs_rows[t.rows - 1];
  uint8_t *dst0 = (uint8_t*)t.dst, *dst1 = dst0 + t.dst_stride;
  for (ptrdiff_t rows = (ptrdiff_t)t.rows; rows > 0; rows -= 2) {
    // The last of an odd number of rows is multiplied twice and stored to the same place
    if (rows == 1) row1 = row0, dst1 = dst0;
    int8x16_t a[2][2];
    load_row(row0, depth, index, flip, a[0]);
    load_row(row1, depth, index, flip, a[1]);
    row0 += 2 * t.lhs_stride, row1 += 2 * t.lhs_stride;
    multiply_two<int8_min>(t, a, step, rounding, dst0, dst1);
    dst0 += 2 * t.dst_stride, dst1 += 2 * t.dst_stride;
  }
}

template <bool int8_min>
void multiply_any(const Tile& t) {
  if (is_shallow(t)) return multiply_shallow<int8_min>(t);
  if (t.rows <= kMr) return dispatch<int8_min>(t);
  Tile two = t;
  for (size_t left = t.rows; left; left -= two.rows) {
    two.rows = left < kMr ? left : kMr;
    dispatch<int8_min>(two);
    pass_rows(&two, two.rows);
  }
}

template <bool int8_min>
constexpr MicroKernel tall_kernel_of(const char* name) {
  MicroKernel k = int8_kernel_of<int8_min, multiply_any<int8_min>>(name);
  k.lhs_lanes_step = kMr;
  k.tall_mr = 16;
  k.tall_nr = 48;
  return k;
}

}  // namespace

const MicroKernel neon_s8s8_2x64x16 = tall_kernel_of<false>("neon_s8s8_2x64x16");
const MicroKernel neon_s8s8_int8min_2x64x16 = tall_kernel_of<true>("neon_s8s8_int8min_2x64x16");

}  // namespace octet
