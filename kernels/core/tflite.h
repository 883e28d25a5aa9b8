// SPDX-License-Identifier: Apache-2.0
// Prepares TFLite's multipliers and shifts for vectors. x86 kernels need create's certificate that
// no accumulator, shifted left, reaches 2^30; of the forms below only kAll needs it.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

// Rows with one value per column:
//   kLeft   the accumulator's shift to the left plus 1, which doubles it
//   kHalf   half of the divisor, added to the product before it is divided
//   kSign   31, the shift that leaves an accumulator's sign; 32 where nothing is divided
//   kRight  the product's shift to the right
enum class TfliteRow : uint8_t { kMultiplier, kLeft, kHalf, kSign, kRight };
constexpr size_t kTfliteRows = 5;

// How the rows are written.
enum class TfliteForm : uint8_t {
  kAll,       // by write_tflite_column
  kFloats,    // by write_tflite_floats
  kFloatsUp,  // the same, and the clamp hides all values below zero
};

struct TfliteColumns {
  const int32_t* rows;  // null where the certificate is needed and missing
  size_t apart;         // elements between rows; one element before and after a row may be read
  TfliteForm form;
  bool divides = false;  // every shift is to the right, by 1 or more
  const int32_t* row(TfliteRow r) const { return rows + (size_t)r * apart; }
};

constexpr void write_tflite_column(int32_t multiplier, int32_t shift, int32_t* column,
                                   size_t apart) {
  const int32_t left = shift > 0 ? shift : 0, right = left - shift;
  column[(size_t)TfliteRow::kMultiplier * apart] = multiplier;
  column[(size_t)TfliteRow::kLeft * apart] = left + 1;
  column[(size_t)TfliteRow::kHalf * apart] = right ? 1 << (right - 1) : 0;
  column[(size_t)TfliteRow::kSign * apart] = right ? 31 : 32;
  column[(size_t)TfliteRow::kRight * apart] = right;
}

constexpr bool is_right_only(int32_t shift) { return shift < 0; }

// Three rows of floats; operators/epilogue/tflite_floats.h finds them.
constexpr size_t kTfliteHigh = 0, kTfliteLow = 1, kTfliteBegin = 2;
inline void write_tflite_floats(const float (&values)[3], int32_t* column, size_t apart) {
  for (size_t row = 0; row < 3; ++row)
    __builtin_memcpy(column + row * apart, &values[row], sizeof values[row]);
}

}  // namespace octet
