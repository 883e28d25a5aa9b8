// SPDX-License-Identifier: Apache-2.0
// Describes products of s16 values by weights of 8 bits: an s16 value is split into two bytes,
// x = 256 * high + low, int8 kernels multiply both, and the sums meet here (DESIGN.md,
// "An s16 lhs").
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/element_type.h"
#include "kernels/core/strict_float.h"

namespace octet {

// Splits a row of s16 values into a row of high bytes and a row of low bytes. Each byte is xor-ed
// with its flip, which makes it an s8 or a u8, as kernels want it.
struct S16Row {
  const int16_t* s16;
  size_t depth;
  uint8_t high_flip, low_flip;
  uint8_t *high, *low;
};
using SplitS16Fn = void (*)(const S16Row& row);

// A high byte is an s8, a low byte a u8. The flips that make both of them `bytes`, kS8 or kU8.
constexpr uint8_t high_flip(ElementType bytes) { return bytes == ElementType::kS8 ? 0 : 0x80; }
constexpr uint8_t low_flip(ElementType bytes) { return bytes == ElementType::kS8 ? 0x80 : 0; }

// The modes of outputs, which are s16, or f32 with kF32. kTfliteWidest is kTflite for accumulators
// of 2^38 and more, whose products with a multiplier a double does not hold.
enum class S16Mode : uint8_t { kNone, kFloat, kTflite, kTfliteWidest, kDouble, kF32 };

// One per plan; the arrays cover all columns, padded to a multiple of 64. kNone: no s16 values.
struct S16Epilogue {
  S16Mode mode;
  const float* scale;     // kFloat, kF32
  const float* bias_f32;  // kF32, or null
  // kTflite: multiplier * 2^(shift - 15), with the multiplier in 15 bits. kDouble: the caller's
  const double* factor;
  const double* up;           // kTflite: 2^(shift - 16), half of the last bit of a product
  const int32_t* multiplier;  // kTfliteWidest: in 15 bits
  const int32_t* right;       // kTfliteWidest: 15 - shift
  // For kernels that make outputs of sums in registers. kFloat: scale; kTflite: int32, the
  // multiplier in 15 bits * 2^(32 - right). Null where an accumulator or a product may leave int32
  const float* in_kernel;
  float lo, hi;  // the clamp

  size_t dst_bytes() const { return mode == S16Mode::kF32 ? sizeof(float) : sizeof(int16_t); }
};

// The offsets of columns: acc = 256 * high sum + low sum + offset. `in_int32` is null unless no
// accumulator leaves int32; then offsets and sums may wrap.
struct S16Offsets {
  const double* in_double;
  const int32_t* in_int32;

  S16Offsets from(size_t n) const { return {in_double + n, in_int32 ? in_int32 + n : nullptr}; }
};

// The sums of the high and of the low bytes of each row, or, with high null, `low` sums of s16
// values, or of each of some parts of the depth. A part's sums may be one more than int32 holds:
// they are from -(2^31 - 1) to 2^31, and wrap. Sums and arrays are readable up to cols rounded up
// to kS16Columns.
constexpr size_t kS16Columns = 16;
struct S16Tile {
  const int32_t *high, *low;
  size_t sums_stride;  // elements from one row to the next, of either
  size_t rows, cols;
  size_t column;      // index of the first column in the arrays of S16Epilogue
  S16Offsets offset;  // from the first column on; with parts, no int32
  uint8_t* dst;
  size_t dst_stride;  // bytes
  // 0: sums of the whole depth; elements from a part to the next
  size_t parts = 0, parts_stride = 0;
};
using FinishS16Fn = void (*)(const S16Epilogue& f, const S16Tile& tile);

}  // namespace octet
