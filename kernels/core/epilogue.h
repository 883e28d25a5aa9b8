// SPDX-License-Identifier: Apache-2.0
// Describes the epilogue, which turns s32 accumulators into the output: scale, clamp of the
// product, + residual, round, + zero point, clamp, look-up table (DESIGN.md, "Numeric contract").
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/output.h"
#include "kernels/core/requantize.h"
#include "kernels/core/strict_float.h"
#include "kernels/core/tflite.h"
#include "kernels/core/tflite_add.h"

namespace octet {

enum class EpilogueMode : uint8_t { kS32, kF32, kFloat8, kTflite8, kDouble8 };

struct TfliteScale {
  int32_t multiplier, shift;
};

// Maps bytes of rows through a table (Epilogue::lut), in place.
using LookUpFn = void (*)(const uint8_t* lut, uint8_t* dst, size_t stride, size_t rows,
                          size_t cols);

// One per plan; the arrays cover all columns, padded with harmless values to a multiple of 64.
struct Epilogue {
  EpilogueMode mode;
  ElementType dst_type;  // kS8 or kU8 in kFloat8, kTflite8 and kDouble8
  bool has_residual;
  ElementType residual_type;   // kS8 or kU8
  const float* scale;          // kF32, kFloat8; kTflite8: the first row of `tflite`
  const float* bias_f32;       // kF32, or null; in one allocation with scale
  const int32_t* multiplier;   // kTflite8
  const int32_t* shift;        // kTflite8
  const double* factor;        // kDouble8
  TfliteColumns tflite;        // kTflite8
  int32_t zero_point, lo, hi;  // of the output; [lo, hi] is the clamp, within the output type
  // kFloat8: every value, with its residual, is below 2^31, below 2^15 - 1 before the clamp
  bool fits_int32, fits_int16;
  // kFloat8, kDouble8: lo - zero_point and hi - zero_point; kF32: the clamp itself
  float lo_f32, hi_f32;
  int32_t residual_zero_point;
  float residual_scale;                                   // kFloat8
  TfliteScale product_scale, residual_tflite, sum_scale;  // kTflite8 with residual
  int32_t intermediate_zero_point;                        // of the product before that ADD
  const TfliteAdd* tflite_add;                            // the ADD in one rounding, or null
  // The product's own clamp, before the residual. kTflite8 always has one, with the intermediate
  // zero point subtracted; kFloat8 has one if clamps_product.
  bool clamps_product;
  int32_t product_lo, product_hi;
  float product_lo_f32, product_hi_f32;
  // Null, or a table of 256 bytes, and after it the same table for vectors: rows of 16 bytes, each
  // xor-ed with the row before it, except rows 0 and 8
  const uint8_t* lut;
  LookUpFn look_up;  // looks up in `lut`; null if the tier has no vectors for it

  // Whether kernels may add the residual of an output to its product in registers. int16: those
  // that round through 16 bits.
  bool adds_in_kernel(const Output& to, bool int16 = false) const {
    return has_residual && mode == EpilogueMode::kFloat8 && (int16 ? fits_int16 : fits_int32) &&
           !clamps_product && finishes_in_place() && to.stride == to.residual_stride;
  }
  // Whether outputs that are stored without the table's step can get it in place; true without a
  // table.
  bool finishes_in_place() const { return !lut || look_up; }
  void finish_in_place(uint8_t* dst, size_t stride, size_t rows, size_t cols) const {
    if (lut) look_up(lut, dst, stride, rows, cols);
  }
};

// A tile of accumulators and its output.
struct EpilogueTile {
  const int32_t* acc;
  size_t acc_stride;  // elements
  size_t rows, cols;
  size_t column;           // index of the first accumulator's column in Epilogue's arrays
  const float* row_scale;  // one per row, or null for 1
  Output to;               // at row 0 and `column`
};

namespace {

// The part of the epilogue that kernels do in registers.
inline Requantization requantization_of(const Epilogue& f) {
  Requantization r = {f.zero_point, f.lo, f.hi, f.dst_type, f.tflite.apart, f.tflite.form};
  r.to_floats = f.mode == EpilogueMode::kF32;
  if (!r.to_floats) return r;
  r.lo_f32 = f.lo_f32, r.hi_f32 = f.hi_f32;
  r.clamps = f.lo_f32 != -__builtin_inff() || f.hi_f32 != __builtin_inff();
  if (f.bias_f32) r.bias_apart = f.bias_f32 - f.scale;
  return r;
}

}  // namespace

using FindTfliteAddFn = bool (*)(const Epilogue&, TfliteAdd*);
using EpilogueFn = void (*)(const Epilogue&, const EpilogueTile&);

}  // namespace octet
