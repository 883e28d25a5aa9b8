// SPDX-License-Identifier: Apache-2.0
// The operations of the Arm tiers besides multiplying. The epilogues to 8 bits are written in NEON,
// because compilers take many times the instructions, and so is that to f32 on AArch64, which also
// converts the sums that kernels have stored; the rest is the baseline's.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/pinned.h"
#include "kernels/arm/shared/residual.h"
#include "kernels/arm/shared/store_floats.h"
#include "kernels/core/parts.h"
#include "kernels/generic/epilogue.h"
#include "kernels/generic/tflite_add.h"
#if defined(__aarch64__)
#include "kernels/arm/shared/neon_rows.h"
#else
#include "kernels/generic/accumulator_init.h"
#include "kernels/generic/lhs_rows.h"
#include "kernels/generic/s16.h"
#endif

namespace octet {
namespace {

constexpr size_t kLanes = 8;  // columns per step

// Float mode. It always adds: the zeros of no residual change no integer.
struct FloatMode {
  static constexpr bool kAdds = true;
  float32x4_t scale[2], product_lo, product_hi, residual_scale, magic;
  int32x4_t offset;
  FloatMode(const Epilogue& f, size_t n, const Requantizing& r)
      : scale{vld1q_f32(f.scale + n), vld1q_f32(f.scale + n + 4)},
        residual_scale(vdupq_n_f32(f.has_residual ? f.residual_scale : 0)),
        magic(r.magic),
        offset(r.offset) {
    const float infinity = __builtin_inff();
    product_lo = vdupq_n_f32(f.clamps_product ? f.product_lo_f32 : -infinity);
    product_hi = vdupq_n_f32(f.clamps_product ? f.product_hi_f32 : infinity);
  }
  OCTET_INLINE inline int32x4_t of(int v, int32x4_t acc, int32x4_t residual,
                                   const float* row_scale) const {
    const float32x4_t by = row_scale ? vmulq_f32(vld1q_dup_f32(row_scale), scale[v]) : scale[v],
                      product = vminq_f32(vmaxq_f32(vmulq_f32(vcvtq_f32_s32(acc), by), product_lo),
                                          product_hi),
                      x = vaddq_f32(product, vmulq_f32(vcvtq_f32_s32(residual), residual_scale));
    return vqsubq_s32(vreinterpretq_s32_f32(vaddq_f32(x, magic)), offset);  // as scaled()
  }
};

struct NoSum {
  static constexpr bool kAdds = false;
  explicit NoSum(const Epilogue&) {}
  OCTET_INLINE inline int32x4_t sum(int32x4_t product, int32x4_t) const { return product; }
};

// TFLite mode, and its ADD of products and residuals where a TfliteAdd `rounds`.
template <typename Sum>
struct TfliteMode {
  static constexpr bool kAdds = Sum::kAdds;
  TfliteVector scale[2];
  Sum sum;
  int32x4_t zero_point;
  TfliteMode(const Epilogue& f, size_t n, const Requantizing&)
      : sum(f), zero_point(vdupq_n_s32(f.zero_point - (f.dst_type == ElementType::kU8 ? 128 : 0))) {
    unroll<2>([&](auto v) OCTET_INLINE {
      scale[v].set(vld1q_s32(f.multiplier + n + 4 * v), vld1q_s32(f.shift + n + 4 * v));
    });
  }
  OCTET_INLINE inline int32x4_t of(int v, int32x4_t acc, int32x4_t y, const float*) const {
    return vqaddq_s32(sum.sum(scale[v].scale(acc), y), zero_point);
  }
};

// Copies fewer than kLanes elements.
template <typename T>
OCTET_INLINE inline void copy_some(const T* from, size_t count, T* to) {
  OCTET_NO_UNROLL
  for (size_t j = 0; j < count; ++j) to[j] = from[j];
}

// Does kLanes columns or, through copies, fewer.
template <typename Mode>
__attribute__((noinline)) void epilogue_of_columns(const Epilogue& f, const EpilogueTile& t,
                                                   size_t first, size_t count) {
  const Requantizing n = requantizing({f.zero_point, f.lo, f.hi, f.dst_type});
  const Mode mode(f, t.column + first, n);
  const Residuals residuals(f);
  const int8x8_t lo = vget_low_s8(n.lo), hi = vget_low_s8(n.hi);
  const uint8x8_t flip = vget_low_u8(n.flip);
  int32_t acc[kLanes] = {};
  uint8_t some[kLanes] = {}, out[kLanes];
  const bool whole = count == kLanes, adds = f.has_residual;
  const int32_t* from = t.acc + first;
  const uint8_t* residual = adds ? t.to.residual + first : some;
  const size_t next = adds ? t.to.residual_stride : 0;
  uint8_t* dst = t.to.dst + first;
  const float* row_scale = t.row_scale;
  for (size_t i = t.rows; i; --i, from += t.acc_stride, residual += next, dst += t.to.stride) {
    const int32_t* four = from;
    const uint8_t* bytes = residual;
    if (!whole) {
      copy_some(from, count, acc);
      four = acc;
      if (adds) copy_some(residual, count, some), bytes = some;
    }
    int32x4_t y[4] = {};
    if (Mode::kAdds) residuals.widen(vcombine_u8(vld1_u8(bytes), vdup_n_u8(0)), y);
    const int32x4_t q0 = mode.of(0, vld1q_s32(four), y[0], row_scale),
                    q1 = mode.of(1, vld1q_s32(four + 4), y[1], row_scale);
    if (row_scale) ++row_scale;
    const int8x8_t packed = vqmovn_s16(vqmovn_high_s32(vqmovn_s32(q0), q1));
    vst1_u8(whole ? dst : out, veor_u8(vreinterpret_u8_s8(vmin_s8(vmax_s8(packed, lo), hi)), flip));
    if (!whole) copy_some(out, count, dst);
  }
}

// Load sums of sixteen outputs, and their bytes, or store their bytes, of one row or of two that
// are `by` bytes apart, and advance beyond them.
#if defined(__aarch64__)
#define OCTET_LOAD_SUMS(rows, loads, early)                                                        \
  OCTET_INLINE inline void load_sums(Int<rows>, int32x4_t(&to)[4], const int32_t*& from,           \
                                     size_t by) {                                                  \
    register int32x4_t x0 __asm__("v16"), x1 __asm__("v17"), x2 __asm__("v18"), x3 __asm__("v19"); \
    __asm__ volatile(loads                                                                         \
                     : early(x0), early(x1), "=w"(x2), "=w"(x3), "+r"(from)                        \
                     : "r"(by)                                                                     \
                     : "memory");                                                                  \
    to[0] = x0, to[1] = x1, to[2] = x2, to[3] = x3;                                                \
  }
OCTET_LOAD_SUMS(1, "ld1 {%0.4s, %1.4s, %2.4s, %3.4s}, [%4], %5", "=w")
OCTET_LOAD_SUMS(2, "ld1 {%0.4s, %1.4s}, [%4], %5\n ld1 {%2.4s, %3.4s}, [%4], %5", "=&w")
#undef OCTET_LOAD_SUMS
OCTET_INLINE inline uint8x16_t load_bytes(Int<1>, const uint8_t*& from, size_t by) {
  int8x16_t bytes;
  load16_row(bytes, from, by);
  return vreinterpretq_u8_s8(bytes);
}
OCTET_INLINE inline uint8x16_t load_bytes(Int<2>, const uint8_t*& from, size_t by) {
  uint8x16_t bytes;
  __asm__ volatile("ld1 {%0.8b}, [%1], %2\n ld1 {%0.d}[1], [%1], %2"
                   : "=&w"(bytes), "+r"(from)
                   : "r"(by)
                   : "memory");
  return bytes;
}
OCTET_INLINE inline void store_bytes(Int<1>, uint8x16_t bytes, uint8_t*& to, size_t by) {
  store16_row(bytes, to, by);
}
OCTET_INLINE inline void store_bytes(Int<2>, uint8x16_t bytes, uint8_t*& to, size_t by) {
  store8_row(bytes, to, by);
  store8_high_row(bytes, to, by);
}
#else
template <int rows>
inline void load_sums(Int<rows>, int32x4_t (&to)[4], const int32_t*& from, size_t by) {
  const int32_t* const second = (const int32_t*)((const uint8_t*)from + by);
  to[0] = vld1q_s32(from), to[1] = vld1q_s32(from + 4);
  to[2] = vld1q_s32(rows == 1 ? from + 8 : second);
  to[3] = vld1q_s32(rows == 1 ? from + 12 : second + 4);
  from = (const int32_t*)((const uint8_t*)from + rows * by);
}
template <int rows>
inline uint8x16_t load_bytes(Int<rows>, const uint8_t*& from, size_t by) {
  const uint8_t* const first = from;
  from += rows * by;
  return rows == 1 ? vld1q_u8(first) : vcombine_u8(vld1_u8(first), vld1_u8(first + by));
}
template <int rows>
inline void store_bytes(Int<rows>, uint8x16_t bytes, uint8_t*& to, size_t by) {
  uint8_t* const first = to;
  to += rows * by;
  if (rows == 1) return vst1q_u8(first, bytes);
  vst1_u8(first, vget_low_u8(bytes));
  vst1_u8(first + by, vget_high_u8(bytes));
}
#endif

// Adds residuals to sixteen outputs at a time, of one row or, of eight columns, of two rows, from
// column `first` on. Returns the first column that is left.
template <typename Sum, size_t columns>
__attribute__((noinline)) size_t add_sixteen(const Epilogue& f, const EpilogueTile& t,
                                             const float* scales, size_t first) {
  constexpr Int<16 / columns> rows;  // at a time
  const Sum sum(f);
  const typename Sum::Bytes residuals(f);
  const ClampedBytes to(requantization_of(f));
  // Copies, because outputs may alias them
  const size_t next = t.acc_stride * sizeof *t.acc, residual_next = t.to.residual_stride,
               dst_next = t.to.stride, count = t.rows, cols = t.cols, apart = f.tflite.apart;
  struct {
    const int32_t* acc;
    const uint8_t* residual;
    uint8_t* dst;
  } at;
  const EpilogueTile tile = t;
  for (; first + columns <= cols; first += columns) {
    typename Sum::Scale scale[4];
    unroll<4>([&](auto v)
                  OCTET_INLINE { scale[v] = Sum::at(scales + first + 4 * v % columns, apart); });
    at = {tile.acc + first, tile.to.residual + first, tile.to.dst + first};
    // By values, or compilers keep them in memory, which assembly could read
    const auto add = [=, &at](size_t by, size_t residual_by, size_t dst_by) OCTET_INLINE {
      int32x4_t four[4];
      load_sums(rows, four, at.acc, by);
      const uint8x16_t bytes = load_bytes(rows, at.residual, residual_by);
      store_bytes(rows, added(four, scale, bytes, residuals, sum, to), at.dst, dst_by);
    };
    for (size_t i = count / rows; i; --i) add(next, residual_next, dst_next);
    if (count % rows) add(0, 0, 0);  // a last row is both rows
  }
  return first;
}

// Does all steps to bytes but the table's.
void store_bytes(const Epilogue& f, const EpilogueTile& t) {
  const bool tflite = f.mode == EpilogueMode::kTflite8;
  const auto columns = !tflite          ? epilogue_of_columns<FloatMode>
                       : f.has_residual ? epilogue_of_columns<TfliteMode<TfliteSum>>
                                        : epilogue_of_columns<TfliteMode<NoSum>>;
  size_t j = 0;
  if (f.has_residual && (tflite ? f.tflite.rows && f.tflite.divides
                                : f.fits_int16 && !f.clamps_product && !t.row_scale)) {
    const float* const scales = (tflite ? (const float*)f.tflite.rows : f.scale) + t.column;
    j = (tflite ? add_sixteen<TfliteSum, 16> : add_sixteen<FloatSum, 16>)(f, t, scales, j);
    j = (tflite ? add_sixteen<TfliteSum, 8> : add_sixteen<FloatSum, 8>)(f, t, scales, j);
  }
  for (; j < t.cols; j += kLanes) columns(f, t, j, t.cols - j < kLanes ? t.cols - j : kLanes);
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
    for (; j + 16 <= cols; j += 16) {
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
  const bool tflite = f.mode == EpilogueMode::kTflite8;
  if ((!tflite && f.mode != EpilogueMode::kFloat8) ||
      (tflite && f.has_residual && !(f.tflite_add && f.tflite_add->rounds)))
    return others(f, t);
  store_bytes(f, t);
  if (!f.lut) return;
  if (f.look_up) return f.finish_in_place(t.to.dst, t.to.stride, t.rows, t.cols);
  for (size_t i = 0; i < t.rows; ++i) {
    uint8_t* const row = t.to.dst + i * t.to.stride;
    for (size_t j = 0; j < t.cols; ++j) row[j] = f.lut[row[j]];
  }
}

bool find_add(const Epilogue& f, TfliteAdd* sum) { return find_tflite_add(f, true, sum); }

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
                          find_add,
                          TfliteForm::kAll,
                          nullptr,
                          kLookUp};

}  // namespace octet
