// The operations of the Arm tiers besides multiplying. TFLite mode's epilogue is written in NEON,
// because compilers do not vectorize it; the rest is the baseline's, which on AArch64 is NEON, too.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/requantize.h"
#include "kernels/arm/shared/tflite.h"
#include "kernels/core/parts.h"
#include "kernels/generic/epilogue.h"
#if defined(__aarch64__)
#include "kernels/generic/portable.h"
#else
#include "kernels/generic/accumulator_init.h"
#include "kernels/generic/lhs_rows.h"
#include "kernels/generic/words.h"
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

void init(const Init& i) { portable_ops.init(i); }
void sum_rows(const Rows& rows, bool is_signed, int32_t* sums) {
  portable_ops.sum_rows(rows, is_signed, sums);
}
RowQuant quantize_row(const float* row, size_t depth, bool asymmetric, uint8_t* out) {
  return portable_ops.quantize_row(row, depth, asymmetric, out);
}
RowQuant measure_rows(const FloatRows& rows, bool asymmetric) {
  return portable_ops.measure_rows(rows, asymmetric);
}
FloatEnds find_ends(const FloatRows& rows) { return portable_ops.find_ends(rows); }
void quantize_floats(const Quantization& by, const float* x, size_t count, uint8_t* out) {
  portable_ops.quantize_floats(by, x, count, out);
}
void copy_windows(const Windows& windows) { portable_ops.copy_windows(windows); }
[[maybe_unused]] void split_words(const WordRow& row) { portable_ops.split_words(row); }
[[maybe_unused]] void finish_words(const WordEpilogue& f, const WordTile& t) {
  portable_ops.finish_words(f, t);
}
void others(const Epilogue& f, const EpilogueTile& t) { portable_ops.epilogue(f, t); }
#else
constexpr LookUpFn kLookUp = nullptr;
RowQuant quantize_row(const float* row, size_t depth, bool asymmetric, uint8_t* out) {
  return quantize_row_by<quantize_floats>(row, depth, asymmetric, out);
}
void init(const Init& i) { init_tile(i); }
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

const TierOps neon_ops = {init,
                          epilogue,
                          sum_rows,
                          quantize_row,
                          measure_rows,
                          find_ends,
                          quantize_floats,
                          copy_windows,
                          OCTET_IF(INT16, split_words, nullptr),
                          OCTET_IF(INT16, finish_words, nullptr),
                          nullptr,
                          false,
                          kLookUp};

}  // namespace octet
