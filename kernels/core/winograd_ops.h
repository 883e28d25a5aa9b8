// SPDX-License-Identifier: Apache-2.0
// Describes the two transforms that Winograd's algorithm needs from a tier. The input transform
// makes one int16 per tap and channel from a patch of the input; the output transform makes outputs
// from the products. Everything is integer and linear, so sums may wrap as long as the last one
// fits. The exception is k2x2Int8, which rounds int16 to int8 for the int8 kernels and rescales in
// float.
#pragma once

#include "kernels/core/packed_layout.h"
#include "kernels/core/requantize.h"
#include "kernels/core/strict_float.h"

namespace octet {

// Index of WinogradOps' functions. kNxN makes N x N outputs of a 3x3 kernel.
enum class Winograd : uint8_t { k2x2, k4x4, k2x2Stride2, k2x2Int8 };
constexpr size_t kWinogradVariants = 4;
constexpr size_t kMaxPatch = 6, kMaxTaps = kMaxPatch * kMaxPatch;

// The input of one tile. The transform centres it: it uses x - 128 for u8 and x for s8.
struct WinogradInput {
  // Patch * patch addresses, line by line; `channels` bytes may be read at each
  const uint8_t* const* pixels;
  size_t channels;
  ElementType type;  // kS8 or kU8
  // `channels` s16 values each (bytes, for k2x2Int8), and as many more as a vector has beyond them
  uint8_t* taps;
  size_t tap_stride;  // bytes
  // For MicroKernel::multiply_eights: bytes from eight channels to the next eight; the last vector
  // may begin up to 14 bytes before its place. 0: channels lie side by side
  size_t eights_step;
  // k2x2Int8, one per tap: value v becomes (v * factor + 2^14) >> 15, saturated to s8
  const int16_t* factors;
  uint8_t flip;  // k2x2Int8: xor-ed to the result
};

// The output of one tile for some columns: y = init + transformed products, stored as s32,
// requantized to 8 bits or, by transforms with stores_floats, converted to f32.
struct WinogradOutput {
  const int32_t* products;  // per tap; readable up to cols rounded up to the layout's step
  size_t tap_stride;        // elements
  size_t cols;              // 1..WinogradOps::columns
  const int32_t* init;      // as in Tile, per output of the tile, line by line
  size_t init_stride;       // elements; 0 = one row for all
  size_t height, width;     // outputs that exist, from the top left
  void* dst;
  size_t dst_pixel, dst_line;  // bytes
  const float* scale;          // null: s32. As in Tile
  const Requantization* requantization;
  float row_scale;          // f32: multiplies the columns' scales first; 1: none
  const float* tap_scale;   // k2x2Int8: the scale of each column's products, for tap 0
  size_t tap_scale_stride;  // elements
};

using WinogradInputFn = void (*)(const WinogradInput&);
using WinogradOutputFn = void (*)(const WinogradOutput&);

struct WinogradOps {
  WinogradInputFn input[kWinogradVariants];
  WinogradOutputFn output[kWinogradVariants];
  uint8_t columns;     // the most columns that one call of output takes
  bool stores_floats;  // output knows f32
};

}  // namespace octet
