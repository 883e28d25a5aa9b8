// SPDX-License-Identifier: Apache-2.0
// The checks and the outputs of products of s16 values: TensorFlow Lite's 16x8 and float mode.
#include "operators/epilogue/s16.h"

#include "kernels/core/parts.h"

namespace octet {
namespace {

constexpr int64_t kMostAcc = (int64_t)1 << 47,  // as TensorFlow Lite's
    kMostInDouble = (int64_t)1 << 38;           // 15 bits more are exact in a double
constexpr int32_t kLongestShift = 7;            // as TensorFlow Lite's

int64_t bias_of(const octet_epilogue& e, size_t n) {
  return e.bias_s64 ? e.bias_s64[n] : e.bias ? e.bias[n] : 0;
}

bool fits_int32(const EpilogueBuilder& builder) { return builder.max_s16 <= INT32_MAX; }

// Whether kernels may scale sums to outputs in registers (S16Epilogue::in_kernel). The product is
// a float, as theirs is: one below 2^31 may round to it.
bool scales_in_kernel(const EpilogueBuilder& builder, const S16Epilogue& w) {
  bool fits = fits_int32(builder) && (w.mode == S16Mode::kFloat || w.mode == S16Mode::kTflite);
  for (size_t n = 0; fits && n < builder.columns; ++n)
    fits = w.mode == S16Mode::kFloat ? (float)builder.max_s16 * w.scale[n] < 0x1p31f
                                     : w.right[n] >= 16 && w.right[n] <= 32;
  return fits;
}

// TensorFlow Lite's multiplier of 31 bits in 15, rounded.
int32_t reduced(int32_t multiplier) {
  return multiplier < 0x7fff0000 ? (multiplier + (1 << 15)) >> 16 : 0x7fff;
}

}  // namespace

octet_status check_s16_combination(const EpilogueBuilder& builder) {
  const octet_epilogue& e = builder.desc;
  const auto refuse = [&](const char* what) {
    return fail(builder.error, OCTET_UNSUPPORTED, "%s", what);
  };
  if (builder.lhs_type != OCTET_S16) {
    if (builder.dst_type == OCTET_S16)
      return refuse("desc.dst_type OCTET_S16 needs an s16 lhs; desc.lhs_type must be OCTET_S16");
    if (e.bias_s64)
      return refuse("desc.epilogue.bias_s64 is for an s16 lhs; use desc.epilogue.bias");
    return OCTET_OK;
  }
  if (!OCTET_IF(INT16, true, false))
    return refuse(
        "desc.lhs_type is OCTET_S16, but this library was built without 16x8 "
        "(OCTET_WITH_INT16=OFF)");
  if (builder.rhs_type != OCTET_S8)
    return refuse("an s16 lhs is multiplied by s8 weights; desc.rhs_type must be OCTET_S8");
  if (builder.dst_type != OCTET_S16 && builder.dst_type != OCTET_F32)
    return refuse("an s16 lhs gives an s16 or f32 dst; desc.dst_type must be one of them");
  if (builder.lhs_quant != OCTET_LHS_STATIC)
    return refuse("an s16 lhs has one static scale; desc.lhs_quant must be OCTET_LHS_STATIC");
  if (builder.lhs_zero_point)
    return fail(builder.error, OCTET_BAD_ZERO_POINT,
                "desc.lhs_zero_point is %d; of an s16 lhs it must be 0",
                (int)builder.lhs_zero_point);
  if (e.bias && e.bias_s64)
    return refuse("desc.epilogue.bias and desc.epilogue.bias_s64 are both set; give one of them");
  return OCTET_OK;
}

octet_status check_s16_range(EpilogueBuilder* builder, const PackedRhs& packed) {
  const octet_epilogue& e = builder->desc;
  for (size_t n = 0; n < builder->columns; ++n) {
    if (packed.zero_points && packed.zero_points[n])
      return fail(builder->error, OCTET_BAD_ZERO_POINT,
                  "desc.packed: the zero point of %s %zu is %d; with an s16 lhs it must be 0",
                  builder->column_name, n, (int)packed.zero_points[n]);
    const int64_t positive = packed.positive ? packed.positive[n] : 128 * (int64_t)builder->depth,
                  negative = packed.negative ? packed.negative[n] : 0,
                  most = positive > -negative ? positive : -negative;
    if (!builder->outline && 255 * most > INT32_MAX)
      return fail(
          builder->error, OCTET_ACCUMULATOR_OVERFLOW,
          "the sums of %s %zu may reach %lld where bytes of s16 values are multiplied, outside "
          "int32: %s = %zu is too deep",
          builder->column_name, n, (long long)(255 * most), builder->depth_name, builder->depth);
    const int64_t bias = bias_of(e, n), sum = 32768 * (positive - negative);
    if (!builder->outline && (bias < sum - kMostAcc || bias >= kMostAcc - sum))
      return fail(builder->error, OCTET_ACCUMULATOR_OVERFLOW,
                  "the accumulator of %s %zu may leave 48 bits: desc.epilogue.%s[%zu] is %lld, and "
                  "its sums reach %lld",
                  builder->column_name, n, e.bias_s64 ? "bias_s64" : "bias", n, (long long)bias,
                  (long long)sum);
    builder->max_s16_sum = sum > builder->max_s16_sum ? sum : builder->max_s16_sum;
    const int64_t reach = sum + (bias < 0 ? -bias : bias);
    builder->max_s16 = reach > builder->max_s16 ? reach : builder->max_s16;
    if (e.requant == OCTET_REQUANT_TFLITE && shift_of(e, n) > kLongestShift)
      return fail(builder->error, OCTET_BAD_SCALE,
                  "desc.epilogue.shifts: %s %zu shifts left by %d; with an s16 lhs by at most %d",
                  builder->column_name, n, (int)shift_of(e, n), (int)kLongestShift);
  }
  return OCTET_OK;
}

S16Epilogue build_s16(const EpilogueBuilder& builder, const Epilogue& f, size_t padded,
                      Arena* arena) {
  if (builder.lhs_type != OCTET_S16) return {};
  const octet_epilogue& e = builder.desc;
  S16Epilogue w = {};
  w.mode = builder.dst_type == OCTET_F32       ? S16Mode::kF32
           : e.requant == OCTET_REQUANT_FLOAT  ? S16Mode::kFloat
           : e.requant == OCTET_REQUANT_DOUBLE ? S16Mode::kDouble
           : builder.max_s16 < kMostInDouble   ? S16Mode::kTflite
                                               : S16Mode::kTfliteWidest;
  w.scale = f.scale, w.bias_f32 = f.bias_f32, w.factor = f.factor;
  w.lo = f.lo_f32, w.hi = f.hi_f32;
  if (e.requant != OCTET_REQUANT_TFLITE) {
    if (w.scale && scales_in_kernel(builder, w)) w.in_kernel = w.scale;
    return w;
  }
  double *const factor = arena->take<double>(padded), *const up = arena->take<double>(padded);
  int32_t *const multiplier = arena->take<int32_t>(padded), *const right =
                                                                arena->take<int32_t>(padded);
  for (size_t n = 0; right && n < padded; ++n) {
    const bool there = n < builder.columns;
    multiplier[n] = there ? reduced(e.multipliers[e.multiplier_count == 1 ? 0 : n]) : 0;
    right[n] = 15 - (there ? shift_of(e, n) : 0);
    up[n] = 0.5 / (double)((int64_t)1 << right[n]);
    factor[n] = 2 * up[n] * (double)multiplier[n];
  }
  w.factor = factor, w.up = up, w.multiplier = multiplier, w.right = right;
  if (!right || !scales_in_kernel(builder, w)) return w;
  for (size_t n = 0; n < builder.columns; ++n) multiplier[n] *= 1 << (32 - right[n]);
  w.in_kernel = (const float*)multiplier;
  return w;
}

Requantization requantization_of(const S16Epilogue& s16) {
  if (!s16.in_kernel) return {};  // f32 may end at infinities
  Requantization r = {0, (int32_t)s16.lo, (int32_t)s16.hi, ElementType::kS16};
  r.tflite_apart = s16.mode == S16Mode::kTflite;
  return r;
}

S16Offsets take_s16_offsets(const EpilogueBuilder& builder, size_t count, Arena* arena) {
  double* const in_double = arena->take<double>(count);
  int32_t* const in_int32 = fits_int32(builder) ? arena->take<int32_t>(count) : nullptr;
  for (size_t i = 0; in_double && i < count; ++i) {
    in_double[i] = 0;
    if (in_int32) in_int32[i] = 0;
  }
  return {in_double, in_int32};
}

void fill_s16_offsets(const EpilogueBuilder& builder, const PackedRhs& packed, ElementType type,
                      const S16Offsets& offsets) {
  // A kernel of u8 sees high + 128, a kernel of s8 low - 128, an s16 kernel the values
  const int64_t correction = type == ElementType::kU8   ? -128 * 256
                             : type == ElementType::kS8 ? 128
                                                        : 0;
  for (size_t n = 0; offsets.in_double && n < builder.columns; ++n) {
    const int64_t weights = packed.positive ? (int64_t)packed.positive[n] + packed.negative[n] : 0,
                  offset = bias_of(builder.desc, n) + correction * weights;
    ((double*)offsets.in_double)[n] = (double)offset;
    if (offsets.in_int32) ((int32_t*)offsets.in_int32)[n] = (int32_t)(uint32_t)offset;
  }
}

}  // namespace octet
