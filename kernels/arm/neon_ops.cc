// SPDX-License-Identifier: Apache-2.0
// The operations of the Arm tiers besides multiplying. TFLite mode's epilogue is written in NEON,
// because compilers do not vectorize it, and so is that to f32 on AArch64, which also converts the
// sums that kernels have stored; the rest is the baseline's, which on AArch64 is NEON, too.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/requantize.h"
#include "kernels/arm/shared/store_floats.h"
#include "kernels/arm/shared/tflite.h"
#include "kernels/core/parts.h"
#include "kernels/generic/epilogue.h"
#if defined(__aarch64__)
#include "kernels/arm/shared/neon_rows.h"
#else
#include "kernels/generic/accumulator_init.h"
#include "kernels/generic/lhs_rows.h"
#include "kernels/generic/s16.h"
#endif

namespace octet {
namespace {

constexpr size_t kLanes = 16;  // columns per step

// TFLite's ADD of products and residuals.
struct Addition {
  TfliteVector product, residual, sum;
  int32x4_t lo, hi;
  explicit Addition(const Epilogue& f)
      : product(tflite_vector(f.product_scale)),
        residual(tflite_vector(f.residual_tflite)),
        sum(tflite_vector(f.sum_scale)),
        lo(vdupq_n_s32(f.product_lo)),
        hi(vdupq_n_s32(f.product_hi)) {}
  OCTET_INLINE inline int32x4_t add(int32x4_t x, int32x4_t y) const {
    x = vminq_s32(vmaxq_s32(x, lo), hi);
    return sum.scale(
        vaddq_s32(product.scale(vshlq_n_s32(x, 20)), residual.scale(vshlq_n_s32(y, 20))));
  }
};

// Does kLanes columns or, through copies, fewer.
template <bool adds>
void epilogue_of_columns(const Epilogue& f, const EpilogueTile& t, size_t first, size_t count) {
  const Requantizing n = requantizing({f.zero_point, f.lo, f.hi, f.dst_type});
  const int32x4_t zero_point =
      vdupq_n_s32(f.zero_point - (f.dst_type == ElementType::kU8 ? 128 : 0));
  const Addition addition(f);
  int32_t multiplier[kLanes] = {}, shift[kLanes] = {}, acc[kLanes] = {}, residual[kLanes] = {};
  for (size_t j = 0; j < count; ++j) {
    multiplier[j] = f.multiplier[t.column + first + j];
    shift[j] = f.shift[t.column + first + j];
  }
  TfliteVector scales[4];
  unroll<4>([&](auto v) OCTET_INLINE {
    scales[v].set(vld1q_s32(multiplier + 4 * v), vld1q_s32(shift + 4 * v));
  });
  for (size_t i = 0; i < t.rows; ++i) {
    const int32_t* from = t.acc + i * t.acc_stride + first;
    if (count < kLanes) {
      for (size_t j = 0; j < count; ++j) acc[j] = from[j];
      from = acc;
    }
    if (adds) load_residual(f, t.to.residual + i * t.to.residual_stride + first, count, residual);
    int32x4_t q[4];
    unroll<4>([&](auto v) OCTET_INLINE {
      q[v] = scales[v].scale(vld1q_s32(from + 4 * v));
      if (adds) q[v] = addition.add(q[v], vld1q_s32(residual + 4 * v));
      q[v] = vqaddq_s32(q[v], zero_point);
    });
    const uint8x16_t bytes = pack(q[0], q[1], q[2], q[3], n);
    uint8_t* const dst = t.to.dst + i * t.to.stride + first;
    if (count == kLanes && !f.lut) {
      vst1q_u8(dst, bytes);
      continue;
    }
    uint8_t out[kLanes];
    vst1q_u8(out, bytes);
    for (size_t j = 0; j < count; ++j) dst[j] = f.lut ? f.lut[out[j]] : out[j];
  }
}

#if defined(__aarch64__)
// Copies up to three elements of four bytes.
OCTET_INLINE inline void copy_few(const void* from, size_t count, void* to) {
  for (size_t j = 0; j < count; ++j)
    __builtin_memcpy((uint8_t*)to + 4 * j, (const uint8_t*)from + 4 * j, 4);
}

// The table stays in 16 registers, of which an instruction reads four and leaves bytes with other
// indices as they are, or 0.
void look_up(const uint8_t* lut, uint8_t* dst, size_t stride, size_t rows, size_t cols) {
  const auto load = [&](size_t at) -> uint8x16x4_t {
    return {{vld1q_u8(lut + at), vld1q_u8(lut + at + 16), vld1q_u8(lut + at + 32),
             vld1q_u8(lut + at + 48)}};
  };
  const uint8x16x4_t a = load(0), b = load(64), c = load(128), d = load(192);
  const uint8x16_t quarter = vdupq_n_u8(64);
  if (stride == cols) cols *= rows, rows = 1;  // rows without gaps
  for (; rows; --rows, dst += stride) {
    size_t j = 0;
    for (; j + kLanes <= cols; j += kLanes) {
      const uint8x16_t i = vld1q_u8(dst + j), i1 = vsubq_u8(i, quarter), i2 = vsubq_u8(i1, quarter),
                       i3 = vsubq_u8(i2, quarter);
      vst1q_u8(dst + j, vqtbx4q_u8(vqtbx4q_u8(vqtbx4q_u8(vqtbl4q_u8(a, i), b, i1), c, i2), d, i3));
    }
    for (; j < cols; ++j) dst[j] = lut[dst[j]];
  }
}
constexpr LookUpFn kLookUp = look_up;

// The epilogue to f32: four columns of all rows at a time. acc may be dst.
void store_floats(const Requantization& n, const EpilogueTile& t, const float* scales) {
  const float32x4_t lo = vdupq_n_f32(n.lo_f32), hi = vdupq_n_f32(n.hi_f32),
                    nan = vdupq_n_f32(__builtin_nanf(""));
  const float one = 1;
  const size_t next = t.row_scale ? 1 : 0;
  const auto convert = [&](int32x4_t acc, FloatColumns& by, const float* row_scale) OCTET_INLINE {
    float32x4_t x = floats<true>(acc, by, [&]() OCTET_INLINE { return vld1q_dup_f32(row_scale); });
    if (n.clamps) x = clamped(x, lo, hi);
    return vreinterpretq_s32_f32(vbslq_f32(vceqq_f32(x, x), x, nan));
  };
  for (size_t column = 0; column < t.cols; column += 4) {
    FloatColumns by = FloatColumns::at(scales + column, n.bias_apart);
    const int32_t* acc = t.acc + column;
    uint8_t* dst = t.to.dst + column * sizeof(float);
    const float* row_scale = t.row_scale ? t.row_scale : &one;
    const size_t left = t.cols - column;
    for (size_t i = t.rows; i; --i, acc += t.acc_stride, dst += t.to.stride, row_scale += next) {
      if (left >= 4) {
        vst1q_s32((int32_t*)dst, convert(vld1q_s32(acc), by, row_scale));
        continue;
      }
      int32_t four[4] = {};
      copy_few(acc, left, four);
      vst1q_s32(four, convert(vld1q_s32(four), by, row_scale));
      copy_few(four, left, dst);
    }
  }
}

constexpr QuantizeFloatsFn kQuantizeFloats = quantize_floats_neon;
constexpr FindEndsFn kFindEnds = find_ends_neon;
constexpr RowSumFn kSumRows = sum_rows_neon;
constexpr InitFn kInit = init_neon;
void copy(const Windows& windows) { portable_ops.copy_windows(windows); }
[[maybe_unused]] void split_s16(const S16Row& row) { portable_ops.split_s16(row); }
[[maybe_unused]] void finish_s16(const S16Epilogue& f, const S16Tile& t) {
  portable_ops.finish_s16(f, t);
}
void others(const Epilogue& f, const EpilogueTile& t) {
  if (f.mode != EpilogueMode::kF32) return portable_ops.epilogue(f, t);
  store_floats(requantization_of(f), t, f.scale + t.column);
}
#else
constexpr LookUpFn kLookUp = nullptr;
void copy(const Windows& windows) { copy_windows(windows); }
constexpr QuantizeFloatsFn kQuantizeFloats = quantize_floats;
constexpr FindEndsFn kFindEnds = find_ends;
constexpr RowSumFn kSumRows = sum_rows;
constexpr InitFn kInit = init_tile;
void others(const Epilogue& f, const EpilogueTile& t) { apply_epilogue(f, t); }
#endif

void epilogue(const Epilogue& f, const EpilogueTile& t) {
  if (f.mode != EpilogueMode::kTflite8) return others(f, t);
  for (size_t j = 0; j < t.cols; j += kLanes) {
    const size_t count = t.cols - j < kLanes ? t.cols - j : kLanes;
    (f.has_residual ? epilogue_of_columns<true> : epilogue_of_columns<false>)(f, t, j, count);
  }
}

}  // namespace

#if defined(__aarch64__)
void floats_in_place(const Tile& t, size_t column) {
  uint8_t* const dst = (uint8_t*)t.dst + column * sizeof(float);
  store_floats(*t.requantization,
               {(const int32_t*)dst,
                t.dst_stride / sizeof(float),
                t.rows,
                t.cols - column,
                0,
                t.row_scale,
                {dst, t.dst_stride, nullptr, 0}},
               t.scale + column);
}
#endif

const TierOps neon_ops = {kInit,
                          epilogue,
                          kSumRows,
                          quantize_rows_by<kQuantizeFloats, kFindEnds>,
                          measure_rows_by<kFindEnds>,
                          kFindEnds,
                          kQuantizeFloats,
                          copy,
                          OCTET_IF(INT16, split_s16, nullptr),
                          OCTET_IF(INT16, finish_s16, nullptr),
                          nullptr,
                          false,
                          kLookUp};

}  // namespace octet
