// SPDX-License-Identifier: Apache-2.0
// Makes a tier's ElementwiseOps, in the file that is compiled for the tier.
#pragma once

#include "kernels/generic/functions/add.h"
#include "kernels/generic/functions/convert.h"
#include "kernels/generic/functions/elementwise.h"
#include "kernels/generic/functions/look_up.h"
#include "kernels/generic/functions/multiply.h"
#include "kernels/generic/functions/s16.h"

namespace octet {
namespace {

struct PlainBodies {
  static constexpr PairsBody kAddFixed = add_fixed, kMultiplyTflite = multiply_tflite,
                             kMultiplyScaled = multiply_scaled, kAddFloat = add_float,
                             kMultiplyFloat = multiply_float;
  static constexpr FunctionBody kLookUp = look_up;
};

// Vectors: PlainBodies, or a tier's own bodies in vectors.
template <typename Vectors>
constexpr ElementwiseOps elementwise_bodies() {
  ElementwiseOps ops = {};
  ops.add_tflite = add_tflite;
  ops.add_fixed = Vectors::kAddFixed;
  ops.add_float = Vectors::kAddFloat;
  ops.add_fused = add_fused<false>;
  ops.multiply_tflite = Vectors::kMultiplyTflite;
  ops.multiply_scaled = Vectors::kMultiplyScaled;
  ops.multiply_float = Vectors::kMultiplyFloat;
  ops.look_up = Vectors::kLookUp;
  ops.dequantize = dequantize;
  ops.quantize[(int)Rounding::kEven] = quantize<Rounding::kEven, uint8_t>;
  ops.quantize[(int)Rounding::kAway] = quantize<Rounding::kAway, uint8_t>;
  ops.quantize[(int)Rounding::kXnnpack] = quantize<Rounding::kXnnpack, uint8_t>;
  ops.add_s16 = add_s16;
  ops.multiply_s16 = multiply_s16;
  ops.rescale_s16 = rescale<int16_t, int16_t, false>;
  ops.rescale_s16_by_sign = rescale<int16_t, int16_t, true>;
  ops.rescale_s16_to_bytes = rescale<int16_t, int8_t, false>;
  ops.rescale_bytes_to_s16 = rescale<int8_t, int16_t, false>;
  ops.curve_s16 = curve;
  ops.dequantize_s16 = dequantize_s16;
  ops.quantize_s16 = quantize<Rounding::kAway, int16_t>;
  return ops;
}

}  // namespace
}  // namespace octet
