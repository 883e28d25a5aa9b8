// SPDX-License-Identifier: Apache-2.0
// Multiplies two tensors in the arithmetics of TensorFlow Lite, XNNPACK, ONNX Runtime and ONNX.
#pragma once

#include "kernels/core/strict_float.h"
#include "kernels/generic/functions/pairs.h"
#include "kernels/generic/round.h"

namespace octet {
namespace {

// TensorFlow Lite: the product by one multiplier and a shift to either side.
inline void multiply_tflite(const BinaryPlan& p, const uint8_t* a, const uint8_t* b, uint8_t* out,
                            size_t bytes) {
  const RoundingShift shift(p.shift[2] > 0 ? p.shift[2] : 0);
  const int32_t left = p.shift[2] < 0 ? -p.shift[2] : 0, multiplier = p.multiplier[2];
  for_each_pair(
      p, a, b, out, bytes, [&](int32_t a, int32_t b) __attribute__((always_inline)) {
        return shift.right(high_product((int32_t)((uint32_t)(a * b) << left), multiplier));
      });
}

// TensorFlow Lite's product of s16 values, by one multiplier below 1: of 31 bits, it has no room
// for a shift to the left.
inline void multiply_s16(const BinaryPlan& p, const uint8_t* a, const uint8_t* b, uint8_t* out,
                         size_t bytes) {
  const RoundingShift shift(p.shift[2]);
  const int32_t multiplier = p.multiplier[2];
  for_each_pair_of_s16(
      p, a, b, out, bytes, [&](int32_t a, int32_t b) __attribute__((always_inline)) {
        return shift.right(high_product(a * b, multiplier));
      });
}

// XNNPACK and ONNX Runtime: the product by one factor; ONNX Runtime adds the zero point (fixed)
// before it rounds.
inline void multiply_scaled(const BinaryPlan& p, const uint8_t* a, const uint8_t* b, uint8_t* out,
                            size_t bytes) {
  const float scale = p.scale[2], fixed = p.fixed;
  const int32_t moved = (int32_t)fixed - p.zero[2];
  const float least = (float)(p.least + moved), most = (float)(p.most + moved);
  for_each_pair(
      p, a, b, out, bytes, [&](int32_t a, int32_t b) __attribute__((always_inline)) {
        return round_half_even(within((float)(a * b) * scale + fixed, least, most)) -
               (int32_t)fixed;
      });
}

// ONNX: dequantized, multiplied, quantized.
inline void multiply_float(const BinaryPlan& p, const uint8_t* a, const uint8_t* b, uint8_t* out,
                           size_t bytes) {
  const float scale_a = p.scale[0], scale_b = p.scale[1], scale = p.scale[2];
  const float least = (float)(p.least - p.zero[2]), most = (float)(p.most - p.zero[2]);
  for_each_pair(
      p, a, b, out, bytes, [&](int32_t a, int32_t b) __attribute__((always_inline)) {
        const float product = ((float)a * scale_a) * ((float)b * scale_b) / scale;
        return round_half_even(within(product, least, most));
      });
}

}  // namespace
}  // namespace octet
