// SPDX-License-Identifier: Apache-2.0
// Describes how kernels requantize accumulators to 8 or 16 bits, or convert them to f32, while they
// are still in registers.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/element_type.h"
#include "kernels/core/tflite.h"

namespace octet {

// Kernels use this only where create has certified max|acc| * scale < 2^31 (for kRequantizes16, its
// smaller limit; in TFLite mode, the condition of TfliteColumns).
struct Requantization {
  int32_t zero_point, lo, hi;
  ElementType dst_type;  // kS8, kU8 or, of s16 kernels, kS16
  // TFLite mode: the scales are TfliteColumns' first row, and the rows so far apart. Float mode: 0.
  // kS16: 1 or 0; the scales are S16Epilogue::in_kernel
  size_t tflite_apart = 0;
  TfliteForm tflite_form = TfliteForm::kAll;
  // f32 output, for kStoresFloats: fl(fl(fl(acc) * scale) + bias), then the clamp to [lo_f32,
  // hi_f32] where `clamps`. Biases are finite, and so are all products of scales: no value is NaN.
  bool to_floats = false, clamps = false;
  float lo_f32 = 0, hi_f32 = 0;
  ptrdiff_t bias_apart = 0;  // elements from a column's scale to its f32 bias; 0: no bias
};

// Whether no output of a row with this scale is NaN, for kernels that store f32: the scales of
// columns are at most 2^48, so that products of scales are finite.
constexpr bool is_plain_scale(float row_scale) { return row_scale <= 0x1p79f; }
constexpr bool are_plain_scales(const float* row_scales, size_t count) {
  bool plain = true;
  for (size_t i = 0; i < count; ++i) plain &= is_plain_scale(row_scales[i]);
  return plain;
}

}  // namespace octet
