// SPDX-License-Identifier: Apache-2.0
// Lists a tier's bodies of functions over elements, and the numbers that they compute with. Bytes
// of s8 are read and written as u8 with the top bit flipped, with zero points moved by 128. s16
// values are read as they are; their zero points are 0.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/table_rows.h"
#include "octet/network.h"

namespace octet {

// octet_network_function.run, with a plan as context
typedef void (*FunctionBody)(void* plan, const octet_network_call* call);

// Elements that a body of pairs takes at least.
constexpr size_t kLeastPairs = 16;

struct BinaryPlan;
// out[i] of a[i] and b[i], for `bytes` bytes of elements. The last elements may be computed twice,
// so `out` overlaps neither a nor b.
typedef void (*PairsBody)(const BinaryPlan& plan, const uint8_t* a, const uint8_t* b, uint8_t* out,
                          size_t bytes);

// out = clamp(f(a - zero[0], b - zero[1]) + zero[2]), a, b and out flipped
struct BinaryPlan {
  PairsBody body;
  size_t element;         // bytes of one
  uint8_t flip[3];        // 0x80 for s8, of a, b and out
  bool one_pixel, swaps;  // b is one pixel for all; a is inputs[1]
  int32_t zero[3];        // of a, b and out, as u8
  int32_t least, most;    // of out, as u8
  int32_t multiplier[3];  // fixed point: of a, b and out
  int32_t shift[3];       // to the right, of each product
  int32_t offset;         // add_fixed: added to the sum, in [0, 2^30]
  float scale[3];         // float: of a, b and out
  float fixed;            // float: added before rounding
  int32_t negate[2];      // TensorFlow Lite's difference: -1 to subtract the scaled a or b
};

// The factors of add_fixed in two halves, so that 16-bit multiplications suffice: |factor| < 2^30,
// shift[2] in [15, 30].
constexpr int kFixedLow = 15;
struct FixedFactor {
  explicit FixedFactor(int32_t factor)
      : high((int16_t)(factor >> kFixedLow)), low((int16_t)(factor & ((1 << kFixedLow) - 1))) {}
  int16_t high, low;
};

struct TablePlan {
  uint8_t table[256];  // by the input's byte
  uint8_t rows[256];   // write_table_rows of it
  void set(const uint8_t* entries) {
    __builtin_memcpy(table, entries, sizeof table);
    write_table_rows(table, rows);
  }
};

enum class Rounding {
  kEven,     // x / scale, halves to even; NaN is the zero point
  kAway,     // x / scale, halves away from zero; NaN is the zero point
  kXnnpack,  // x * scale, halves to even; NaN is the largest value
};

// Elements that bodies of conversions take at a time. All counts are multiples of it.
constexpr size_t kConverted = 32;

struct ConvertPlan;
typedef void (*QuantizeBody)(const ConvertPlan& plan, const float* from, void* to, size_t count);
typedef void (*DequantizeBody)(const ConvertPlan& plan, const void* from, float* to, size_t count);

// Between f32 and 8 or 16 bits.
struct ConvertPlan {
  QuantizeBody quantize;
  DequantizeBody dequantize;
  float scale;  // kXnnpack: its reciprocal
  // quantize: in the type's own numbers; dequantize: of bytes flipped
  int32_t zero, least, most;
  uint8_t flip;  // dequantize: 0x80 for s8
};

// A multiplier of TensorFlow Lite's, with a shift to the left before it or to the right behind it.
struct S16Scale {
  int32_t multiplier, left, right;
};

// The pieces between which a curve runs straight.
constexpr size_t kCurvePieces = 256;

struct S16Plan;
typedef void (*S16Body)(const S16Plan& plan, const void* from, void* to, size_t count);

// Functions of one value where input or output are s16 values. Counts are multiples of kConverted.
struct S16Plan {
  S16Body body;
  int32_t zero, out_zero;  // 0 of s16 values
  int32_t least, most;     // of out
  // rescale: [0] for numbers from 0 on, [1] for those below where the body tells them apart. curve:
  // [0], and `half` is added before the shift to the right
  S16Scale scale[2];
  int32_t half;
  // curve: a place's size has `fraction` bits behind the number of its piece. A piece begins at the
  // low 16 bits of its entry and rises by the high ones. The output is (value + add) >> shift, or
  // (subtract_from - value) >> shift of a place below 0
  int32_t fraction, add, subtract_from, shift;
  uint32_t pieces[kCurvePieces];
};

struct ElementwiseOps {
  PairsBody add_tflite, add_fixed, add_float, add_fused, multiply_tflite, multiply_scaled,
      multiply_float;
  PairsBody add_fused_far;  // of the portable build only
  PairsBody add_s16, multiply_s16;
  S16Body rescale_s16, rescale_s16_by_sign, rescale_s16_to_bytes, rescale_bytes_to_s16, curve_s16;
  FunctionBody look_up;
  DequantizeBody dequantize, dequantize_s16;
  QuantizeBody quantize[3];  // by Rounding
  QuantizeBody quantize_s16;
};

}  // namespace octet
