// What vectors make of TFLite's multipliers and shifts. x86's need create's certificate that no
// accumulator, shifted left, reaches 2^30, except for columns that are right_only.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

// Rows of a value per column. left: by how much an accumulator is shifted, and one more, which
// doubles it; half: what is added to the product before it is divided, half of the divisor; sign:
// 31, which leaves an accumulator's sign when it is shifted right by that, or 32 where nothing is
// divided; right: by how much the product is shifted.
enum class TfliteRow : uint8_t { kMultiplier, kLeft, kHalf, kSign, kRight };
constexpr size_t kTfliteRows = 5;

struct TfliteColumns {
  const int32_t* rows;   // or null: not certified, though it must be
  size_t apart;          // elements. The one before a row and the one behind it may be read
  bool right_only;       // the rows are as write_tflite_right_column writes them
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

// Where every column is shifted to the right, and nothing below zero matters because the clamp lets
// it not through, both roundings are one sum, of which only the upper half is looked at:
//
//     x * multiplier + (half << 32 | left)  >> 32 >> right
//
// x is not doubled, so it may be any.
constexpr bool is_right_only(int32_t shift) { return shift < 0; }
constexpr void write_tflite_right_column(int32_t multiplier, int32_t shift, int32_t* column,
                                         size_t apart) {
  const int32_t right = -shift;
  column[(size_t)TfliteRow::kMultiplier * apart] = multiplier;
  column[(size_t)TfliteRow::kLeft * apart] =
      (int32_t)(((uint32_t)1 << 30) + (right == 1 ? (uint32_t)1 << 31 : 0));
  column[(size_t)TfliteRow::kHalf * apart] = right > 1 ? 1 << (right - 2) : 0;
  column[(size_t)TfliteRow::kSign * apart] = 0;
  column[(size_t)TfliteRow::kRight * apart] = right - 1;
}

}  // namespace octet
