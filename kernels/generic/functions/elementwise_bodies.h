// Makes a tier's ElementwiseOps, in the file that is compiled for the tier.
#pragma once

#include "kernels/generic/functions/add.h"
#include "kernels/generic/functions/convert.h"
#include "kernels/generic/functions/elementwise.h"
#include "kernels/generic/functions/look_up.h"
#include "kernels/generic/functions/multiply.h"

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
  ops.quantize[(int)Rounding::kEven] = quantize<Rounding::kEven>;
  ops.quantize[(int)Rounding::kAway] = quantize<Rounding::kAway>;
  ops.quantize[(int)Rounding::kXnnpack] = quantize<Rounding::kXnnpack>;
  return ops;
}

}  // namespace
}  // namespace octet
