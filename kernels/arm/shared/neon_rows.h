// SPDX-License-Identifier: Apache-2.0
// Sums, measures and quantizes rows, and makes the accumulators' init, in vectors of AArch64.
#pragma once

#include "kernels/arm/shared/intrinsics.h"
#include "kernels/arm/shared/pinned.h"
#include "kernels/core/accumulator_init.h"
#include "kernels/core/compiler.h"
#include "kernels/generic/lhs_rows.h"
#include "kernels/generic/portable.h"

namespace octet {
namespace {

// ---- sums of bytes ------------------------------------------------------------------------------

// Adds adjacent bytes to sums of 16 bits, and adjacent ones of these to sums of 32 bits.
template <bool is_signed>
OCTET_INLINE inline int16x8_t add_pairs_of(int16x8_t sums, uint8x16_t bytes) {
  return is_signed ? vpadalq_s8(sums, vreinterpretq_s8_u8(bytes))
                   : vreinterpretq_s16_u16(vpadalq_u8(vreinterpretq_u16_s16(sums), bytes));
}
template <bool is_signed>
OCTET_INLINE inline int32x4_t add_pairs_of(int32x4_t sums, int16x8_t halves) {
  return is_signed ? vpadalq_s16(sums, halves)
                   : vreinterpretq_s32_u32(
                         vpadalq_u16(vreinterpretq_u32_s32(sums), vreinterpretq_u16_s16(halves)));
}

// Sums of `rows` rows of bytes, without a flip.
template <bool is_signed, int rows>
OCTET_INLINE inline void sum_together(const Rows& r, size_t first, uint8x16_t last,
                                      int32x4_t (&sum)[4]) {
  constexpr size_t kAtOnce = 128 * 16;  // 128 sums of two bytes fit 16 bits
  const size_t whole = r.depth / 16 * 16, rest = r.depth - whole;
  const uint8_t* row[rows];
  int16x8_t halves[rows];
  unroll<rows>([&](auto at) OCTET_INLINE { row[at] = r.row(first + at); });
  unroll<4>([&](auto at) OCTET_INLINE { sum[at] = vdupq_n_s32(0); });
  for (size_t k = 0; k < whole;) {
    const size_t end = smaller(k + kAtOnce, whole);
    unroll<rows>([&](auto at) OCTET_INLINE { halves[at] = vdupq_n_s16(0); });
    OCTET_NO_UNROLL
    for (; k < end; k += 16)
      unroll<rows>([&](auto at) OCTET_INLINE {
        halves[at] = add_pairs_of<is_signed>(halves[at], vld1q_u8(row[at] + k));
      });
    unroll<rows>([&](auto at)
                     OCTET_INLINE { sum[at] = add_pairs_of<is_signed>(sum[at], halves[at]); });
  }
  if (!rest) return;
  unroll<rows>([&](auto at) OCTET_INLINE {
    const uint8x16_t bytes = vandq_u8(vld1q_u8(row[at] + r.depth - 16), last);
    sum[at] = add_pairs_of<is_signed>(sum[at], add_pairs_of<is_signed>(vdupq_n_s16(0), bytes));
  });
}

// Sums all fours of rows at one stride, of less than 512 bytes: sums of half a row fit 16 bits.
// Loads step from row to row.
template <bool is_signed>
OCTET_INLINE inline void sum_fours(const Rows& r, int32x4_t less, uint8x16_t last, int32_t* sums) {
  const size_t stride = r.stride, depth = r.depth, rest = depth % 16;
  const uint8_t* first = r.data;
  for (size_t fours = r.rows / 4; fours; --fours, sums += 4) {
    const uint8_t* next = first;
    int16x8_t halves[4];
    unroll<4>([&](auto i) OCTET_INLINE {
      int8x16_t bytes;
      load16_row(bytes, next, stride);
      halves[i] = is_signed ? vpaddlq_s8(bytes)
                            : vreinterpretq_s16_u16(vpaddlq_u8(vreinterpretq_u8_s8(bytes)));
    });
    const auto add = [&](size_t k, uint8x16_t mask, bool masks) OCTET_INLINE {
      const uint8_t* row = first + k;
      unroll<4>([&](auto i) OCTET_INLINE {
        int8x16_t bytes;
        load16_row(bytes, row, stride);
        const uint8x16_t part = vreinterpretq_u8_s8(bytes);
        halves[i] = add_pairs_of<is_signed>(halves[i], masks ? vandq_u8(part, mask) : part);
      });
    };
    OCTET_NO_UNROLL
    for (size_t k = 16; k + 16 <= depth; k += 16) add(k, last, false);
    if (rest) add(depth - 16, last, true);
    const int16x8_t both =
        vpaddq_s16(vpaddq_s16(halves[0], halves[1]), vpaddq_s16(halves[2], halves[3]));
    const int32x4_t all = is_signed
                              ? vpaddlq_s16(both)
                              : vreinterpretq_s32_u32(vpaddlq_u16(vreinterpretq_u16_s16(both)));
    vst1q_s32(sums, vsubq_s32(all, less));
    first = next;
  }
}

template <bool is_signed>
void sum_sixteens(const Rows& r, int32_t bias, int32_t* sums) {
  static constexpr uint8_t kCount[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const uint8x16_t last = vcgeq_u8(vld1q_u8(kCount), vdupq_n_u8((uint8_t)(16 - r.depth % 16)));
  const int32x4_t less = vdupq_n_s32(bias);
  int32x4_t sum[4];
  const auto four = [&]() OCTET_INLINE {
    return vsubq_s32(vpaddq_s32(vpaddq_s32(sum[0], sum[1]), vpaddq_s32(sum[2], sum[3])), less);
  };
  size_t i = 0;
  if (r.depth < 512 && !r.pointers) {
    sum_fours<is_signed>(r, less, last, sums);
    i = r.rows / 4 * 4;
  }
  for (; i + 4 <= r.rows; i += 4) {
    sum_together<is_signed, 4>(r, i, last, sum);
    vst1q_s32(sums + i, four());
  }
  for (; i + 2 <= r.rows; i += 2) {
    sum_together<is_signed, 2>(r, i, last, sum);
    vst1_s32(sums + i, vget_low_s32(four()));
  }
  if (i == r.rows) return;
  sum_together<is_signed, 1>(r, i, last, sum);
  sums[i] = vgetq_lane_s32(four(), 0);
}

// Sums rows of at least 16 bytes, up to four at a time: with little depth most of the work is to
// find the rows and to add up one register. The last 16 bytes of a row may be summed in part
// before. Bytes with a flipped sign are 128 more or less than in the other type.
void sum_rows_neon(const Rows& r, bool is_signed, int32_t* sums) {
  if (r.depth < 16) return portable_ops.sum_rows(r, is_signed, sums);
  const int32_t apart = r.flip ? 128 * (int32_t)r.depth : 0;
  is_signed != (r.flip != 0) ? sum_sixteens<true>(r, is_signed ? apart : 0 - apart, sums)
                             : sum_sixteens<false>(r, is_signed ? apart : 0 - apart, sums);
}

// ---- floats -------------------------------------------------------------------------------------

// FMIN and FMAX return NaN if an operand is NaN. The last 16 floats of a row may be looked at
// twice.
FloatEnds find_ends_neon(const FloatRows& r) {
  if (r.depth < 16) return portable_ops.find_ends(r);
  float32x4_t least[4], most[4];
  unroll<4>([&](auto v) OCTET_INLINE { least[v] = most[v] = vdupq_n_f32(0); });
  for (size_t i = 0; i < r.rows; ++i) {
    const float* const row = r.data + i * r.stride;
    const auto look_at = [&](size_t k) OCTET_INLINE {
      float32x4_t x[4];
      load_four(row + k, x);
      unroll<4>([&](auto v) OCTET_INLINE {
        least[v] = vminq_f32(least[v], x[v]);
        most[v] = vmaxq_f32(most[v], x[v]);
      });
    };
    OCTET_NO_UNROLL
    for (size_t k = 0; k + 16 <= r.depth; k += 16) look_at(k);
    if (r.depth % 16) look_at(r.depth - 16);
  }
  const float lowest = vminvq_f32(
                  vminq_f32(vminq_f32(least[0], least[1]), vminq_f32(least[2], least[3]))),
              highest =
                  vmaxvq_f32(vmaxq_f32(vmaxq_f32(most[0], most[1]), vmaxq_f32(most[2], most[3])));
  if (highest != highest) return {0, bits_float(0x7fc00000)};
  return {lowest, highest};
}

// Sixteen floats with a product that may round otherwise (kUndecided), or with NaN, are divided.
// FCVTNS makes 0 of NaN and saturates.
template <bool is_signed>
OCTET_INLINE inline void quantize_sixteen(const float* x, float32x4_t scale, float32x4_t inverse,
                                          int16x8_t zero_point, uint8x16_t lo, uint8x16_t hi,
                                          uint8_t* out) {
  int32x4_t q[4];
  float32x4_t away[4], from[4];
  load_four(x, from);
  unroll<4>([&](auto v) OCTET_INLINE {
    const float32x4_t product = vmulq_f32(from[v], inverse);
    q[v] = vcvtnq_s32_f32(product);
    away[v] = vabdq_f32(product, vcvtq_f32_s32(q[v]));
  });
  const float32x4_t most = vmaxq_f32(vmaxq_f32(away[0], away[1]), vmaxq_f32(away[2], away[3]));
  if (__builtin_expect(!(vmaxvq_f32(most) <= kUndecided), 0))
    unroll<4>([&](auto v)
                  OCTET_INLINE { q[v] = vcvtnq_s32_f32(vdivq_f32(vld1q_f32(x + 4 * v), scale)); });
  const auto words = [&](int32x4_t a, int32x4_t b) OCTET_INLINE {
    return vqaddq_s16(vqmovn_high_s32(vqmovn_s32(a), b), zero_point);
  };
  const int16x8_t low = words(q[0], q[1]), high = words(q[2], q[3]);
  if (is_signed) {
    const int8x16_t bytes = vqmovn_high_s16(vqmovn_s16(low), high);
    vst1q_s8((int8_t*)out,
             vminq_s8(vmaxq_s8(bytes, vreinterpretq_s8_u8(lo)), vreinterpretq_s8_u8(hi)));
  } else {
    vst1q_u8(out, vminq_u8(vmaxq_u8(vqmovun_high_s16(vqmovun_s16(low), high), lo), hi));
  }
}

template <bool is_signed>
void quantize_sixteens(const Quantization& by, const float* x, size_t count, uint8_t* out) {
  const float32x4_t scale = vdupq_n_f32(by.scale), inverse = vdupq_n_f32(1.0f / by.scale);
  const int16x8_t zero_point = vdupq_n_s16((int16_t)by.zero_point);
  const uint8x16_t lo = vdupq_n_u8((uint8_t)by.lo), hi = vdupq_n_u8((uint8_t)by.hi);
  size_t k = 0;
  OCTET_NO_UNROLL
  for (; k + 16 <= count; k += 16)
    quantize_sixteen<is_signed>(x + k, scale, inverse, zero_point, lo, hi, out + k);
  if (k == count) return;
  k = count - 16;  // some of them again
  quantize_sixteen<is_signed>(x + k, scale, inverse, zero_point, lo, hi, out + k);
}

void quantize_floats_neon(const Quantization& by, const float* x, size_t count, uint8_t* out) {
  if (count < 16 || !has_inverse(by.scale)) return portable_ops.quantize_floats(by, x, count, out);
  (by.lo < 0 ? quantize_sixteens<true> : quantize_sixteens<false>)(by, x, count, out);
}

// ---- init ---------------------------------------------------------------------------------------

// The init of `vectors` vectors of columns, whose values of columns are loaded once for all rows.
template <int vectors, bool less_sums, bool less_rows>
OCTET_INLINE inline void init_vectors(const Init& t, size_t j) {
  int32x4_t base[vectors], weight_sum[vectors], zero_point[vectors];
  unroll<vectors>([&](auto v) OCTET_INLINE {
    base[v] = vld1q_s32(t.base + j + 4 * v);
    if (less_sums) weight_sum[v] = vld1q_s32(t.weight_sums + j + 4 * v);
    if (less_rows) zero_point[v] = vld1q_s32(t.rhs_zero_points + j + 4 * v);
  });
  const int32_t *of_row = t.lhs_zero_points, *row_sum = t.row_sums;
  const size_t step = t.lhs_zero_point_step, stride = t.out_stride;
  int32_t* out = t.out + j;
  for (size_t i = t.rows; i; --i, out += stride, of_row += step, ++row_sum) {
    int32x4_t x[vectors];
    unroll<vectors>([&](auto v) OCTET_INLINE {
      x[v] = base[v];
      if (less_sums) x[v] = vmlsq_s32(x[v], weight_sum[v], vld1q_dup_s32(of_row));
      if (less_rows) x[v] = vmlsq_s32(x[v], zero_point[v], vld1q_dup_s32(row_sum));
      vst1q_s32(out + 4 * v, x[v]);
    });
  }
}

template <bool less_sums, bool less_rows>
void init_columns_neon(const Init& t) {
  size_t j = 0;
  for (; j + 16 <= t.cols; j += 16) init_vectors<4, less_sums, less_rows>(t, j);
  for (; j + 4 <= t.cols; j += 4) init_vectors<1, less_sums, less_rows>(t, j);
  if (j == t.cols) return;
  Init rest = t;
  rest.cols -= j;
  rest.base += j;
  if (less_sums) rest.weight_sums += j;
  if (less_rows) rest.rhs_zero_points += j;
  rest.out += j;
  portable_ops.init(rest);
}

void init_neon(const Init& t) {
  if (t.lhs_zero_points)
    t.row_sums ? init_columns_neon<true, true>(t) : init_columns_neon<true, false>(t);
  else
    t.row_sums ? init_columns_neon<false, true>(t) : init_columns_neon<false, false>(t);
}

}  // namespace
}  // namespace octet
