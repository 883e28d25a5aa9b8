// SPDX-License-Identifier: Apache-2.0
// Test cases for rounding: accumulators that are hard to round, and the bytes that they must
// become. They are computed where they are used, with integers: a program would be larger by them.
#pragma once

#include "kernels/core/epilogue.h"
#include "kernels/core/limits.h"
#include "kernels/core/packed_layout.h"
#include "kernels/core/requantize.h"
#include "kernels/core/tier_ops.h"

namespace octet {

constexpr size_t kTileColumns = 64;         // of the widest kernel
constexpr size_t kTileRows = kMaxTileRows;  // all that a tile may have
constexpr size_t kApart = 8;                // rows of a tile begin so many cases apart
constexpr size_t kCases = (kTileRows - 1) * kApart + kTileColumns;

// Operands of all kinds; every fourth byte is an extreme value.
constexpr size_t kDepth = 37;  // has a tail for each kr, and more than one group before it
struct Operands {
  uint8_t lhs[kTileRows * kDepth], rhs[kDepth * kTileColumns];
  Operands();
};

constexpr Requantization kRequantizeU8 = {128, 3, 250,
                                          ElementType::kU8};  // every step of requantizing
constexpr Requantization kRequantizeS8 = {0, -128, 127, ElementType::kS8};  // none but saturation

// Float mode. scale[i] belongs to acc[i] and to acc[i + kApart].
enum class Accumulators {
  kAll,   // up to the largest
  kInt16  // those whose scaled values fit 16 bits
};
struct FloatCases {
  alignas(64) int32_t acc[kCases];
  alignas(64) float scale[kTileColumns];
  int32_t rounded[kTileColumns];  // before zero point and clamp are applied
  // the results of kRequantizeU8 and kRequantizeS8
  uint8_t u8[kCases], s8[kCases];
  uint8_t residual[kTileColumns], sum[kTileColumns];  // kRequantizeU8 of product + residual
  float bias[kTileColumns], f32[kTileColumns];        // product + bias
  explicit FloatCases(Accumulators accumulators);
};
constexpr int32_t kResidualZeroPoint = 128;
constexpr float kResidualScale = 13981013 / 16777216.0f;

// TFLite mode without residual, to s8. All shifts are to the right unless the form is kAll.
struct TfliteCases {
  alignas(64) int32_t acc[kTileColumns];
  int32_t multiplier[kTileColumns], shift[kTileColumns];
  alignas(64) int32_t rows[kTfliteRows * kTileColumns];  // TfliteColumns
  uint8_t bytes[kTileColumns];
  explicit TfliteCases(const Requantization& requantization);
};
constexpr Requantization kTfliteS8 = {-3, -100, 100, ElementType::kS8, kTileColumns},
                         kTfliteFloats = {-3,           -100,
                                          100,          ElementType::kS8,
                                          kTileColumns, TfliteForm::kFloats},
                         kTfliteFloatsUp = {-3,           -3,
                                            100,          ElementType::kS8,
                                            kTileColumns, TfliteForm::kFloatsUp},
                         kTflitePlainRelu = {-3, -3, 100, ElementType::kS8, kTileColumns};
// Calls is_right() for the forms besides kAll of a tier on this CPU.
template <typename IsRight>
bool are_right(const TierOps& ops, const IsRight& is_right) {
  return ops.tflite_form_here() == TfliteForm::kAll ||
         (is_right(kTfliteFloats) && is_right(kTfliteFloatsUp));
}
// From this column on all shifts of kTfliteS8 and kTflitePlainRelu are right shifts
constexpr size_t kTfliteRightFrom = 16;

}  // namespace octet
