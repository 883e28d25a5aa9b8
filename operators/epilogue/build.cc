// SPDX-License-Identifier: Apache-2.0
// The Epilogue of a plan with its arrays, and whether a kernel does all of it by itself.
#include <string.h>

#include "dispatch/select/machine.h"
#include "kernels/core/micro_kernel.h"
#include "kernels/core/table_rows.h"
#include "operators/epilogue/builder.h"
#include "operators/epilogue/float_scale.h"
#include "operators/epilogue/tflite_floats.h"

namespace octet {
namespace {

constexpr double kInt32Limit = 2147483648.0;  // 2^31

// Returns false where a column has no such floats. negatives: whether outputs below zero count.
bool write_floats(const Epilogue& f, size_t columns, size_t padded, bool negatives, int32_t* rows) {
  for (size_t n = 0; n < padded; ++n) {
    float values[3];
    if (!find_tflite_floats(n < columns ? f.multiplier[n] : 0, f.shift[n], negatives, values))
      return false;
    write_tflite_floats(values, rows + n, padded);
  }
  return true;
}

// certified: no accumulator that was shifted left reaches 2^30; a tier without forms needs no
// certificate.
TfliteColumns build_tflite(const EpilogueBuilder& builder, const Epilogue& f, size_t columns,
                           size_t padded, bool certified, const TierOps& ops, Arena* arena) {
  int32_t* const rows = arena->take<int32_t>(kTfliteRows * padded);
  if (!rows) return {};
  bool divides = true;
  for (size_t n = 0; n < columns; ++n) divides &= is_right_only(f.shift[n]);
  // A residual is added to products below the zero point, too
  const bool negatives = f.lo < f.zero_point || f.has_residual;
  TfliteForm form = TfliteForm::kAll;
  if (ops.tflite_form_here() == TfliteForm::kFloats && builder.one_output &&
      (!f.has_residual || f.tflite_add) && write_floats(f, columns, padded, negatives, rows))
    form = negatives ? TfliteForm::kFloats : TfliteForm::kFloatsUp;
  if (!certified && form == TfliteForm::kAll && ops.tflite_form != TfliteForm::kAll) return {};
  for (size_t n = 0; n < padded; ++n)
    if (form == TfliteForm::kAll)
      write_tflite_column(f.multiplier[n], f.shift[n], rows + n, padded);
  return {rows, padded, form, divides};
}

const TfliteAdd* build_tflite_add(const Epilogue& f, FindTfliteAddFn find, Arena* arena) {
  TfliteAdd* const sum = arena->take<TfliteAdd>(1);
  return sum && find(f, sum) ? sum : nullptr;
}

// Null if a factor has no float scale, and while the arena only measures.
const float* build_float_scales(const EpilogueBuilder& builder, size_t columns, size_t padded,
                                Arena* arena) {
  const octet_epilogue& e = builder.desc;
  float* const scales = arena->take<float>(padded);
  for (size_t n = 0; scales && n < padded; ++n) {
    scales[n] = n >= columns         ? 1
                : n < e.factor_count ? float_scale_of(e.factors[n], builder.plan)
                                     : scales[n % e.factor_count];
    if (!scales[n]) return nullptr;
  }
  return scales;
}

bool all_finite(const float* values, size_t count) {
  for (size_t i = 0; values && i < count; ++i)
    if (!__builtin_isfinite(values[i])) return false;
  return true;
}

}  // namespace

Epilogue build_epilogue(const EpilogueBuilder& builder, const TierOps& ops, double max_scaled,
                        size_t columns, size_t padded, Arena* arena) {
  const octet_epilogue& e = builder.desc;
  Epilogue f = builder.plan;
  f.mode = builder.dst_type == OCTET_S32       ? EpilogueMode::kS32
           : builder.dst_type == OCTET_F32     ? EpilogueMode::kF32
           : builder.dst_type == OCTET_S16     ? EpilogueMode::kFloat8  // see build_s16
           : e.requant == OCTET_REQUANT_FLOAT  ? EpilogueMode::kFloat8
           : e.requant == OCTET_REQUANT_TFLITE ? EpilogueMode::kTflite8
                                               : EpilogueMode::kDouble8;
  if (f.mode == EpilogueMode::kDouble8) {
    f.scale = build_float_scales(builder, columns, padded, arena);
    if (f.scale) f.mode = EpilogueMode::kFloat8;
  }
  f.dst_type = element_type_of(builder.dst_type);
  const double largest = max_scaled + (f.has_residual ? 255.0 * f.residual_scale : 0);
  f.fits_int32 = f.mode == EpilogueMode::kFloat8 && !builder.runtime_scales() &&
                 largest * kFloatMargin < kInt32Limit;
  f.fits_int16 = f.fits_int32 && largest * kFloatMargin < kInt16Limit;
  if (e.scales) f.scale = spread(arena, e.scales, e.scale_count, columns, padded, 1.0f);
  if (e.bias_f32) f.bias_f32 = spread(arena, e.bias_f32, builder.columns, columns, padded, 0.0f);
  if (e.factors) f.factor = spread(arena, e.factors, e.factor_count, columns, padded, 1.0);
  if (f.mode == EpilogueMode::kTflite8) {
    f.multiplier = spread(arena, e.multipliers, e.multiplier_count, columns, padded, 0);
    int32_t* const shift = spread(arena, e.shifts, e.multiplier_count, columns, padded, 0);
    for (size_t n = 0; shift && n < columns; ++n) shift[n] = f.multiplier[n] ? shift[n] : -1;
    f.shift = shift;
    if (f.has_residual && ops.find_tflite_add)
      f.tflite_add = build_tflite_add(f, ops.find_tflite_add, arena);
    f.tflite = build_tflite(builder, f, columns, padded, max_scaled < kTfliteLimit, ops, arena);
    f.scale = (const float*)f.tflite.rows;
  }
  if (e.lut) {
    uint8_t* lut = arena->take<uint8_t>(512);
    if (lut) {
      memcpy(lut, e.lut, 256);
      write_table_rows(lut, lut + 256);
    }
    f.lut = lut;
    f.look_up = ops.look_up_for(this_machine().cpu.features);
  }
  return f;
}

bool requantizes_in_kernel(const EpilogueBuilder& builder, const Epilogue& f, double max_scaled,
                           uint16_t kernel_flags) {
  // The clamp before rounding may be left out only where no conversion to int32 (or int16) can
  // overflow.
  const double limit = kernel_flags & kRequantizes16 ? kInt16Limit : kInt32Limit;
  if (f.mode == EpilogueMode::kF32)
    return (kernel_flags & kStoresFloats) && all_finite(builder.desc.bias_f32, builder.columns);
  if (!(kernel_flags & kRequantizes) || f.has_residual || !f.finishes_in_place()) return false;
  if (f.mode == EpilogueMode::kTflite8)
    return (kernel_flags & kRequantizesTflite) && f.tflite.rows &&
           (f.tflite.divides || !(kernel_flags & kTfliteRightShiftOnly));
  return f.mode == EpilogueMode::kFloat8 && !builder.runtime_scales() &&
         max_scaled * kFloatMargin < limit;
}

}  // namespace octet
