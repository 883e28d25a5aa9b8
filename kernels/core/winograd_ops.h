// What Winograd's algorithm needs of an ISA besides a kernel: its two transforms. The first makes
// from a patch of the input one word per tap and channel, the second makes outputs from the
// products. Everything is integer and linear, so sums may wrap as long as the last one fits; except
// for k2x2Int8, which rounds words to bytes, so that kernels of bytes multiply them, and makes up
// for it in float.
#pragma once

#include "kernels/core/packed_layout.h"
#include "kernels/core/requantize.h"
#include "kernels/core/strict_float.h"

namespace octet {

// The index of WinogradOps' functions. outputs x outputs, of a 3x3 kernel.
enum class Winograd : uint8_t { k2x2, k4x4, k2x2Stride2, k2x2Int8 };
constexpr size_t kWinogradVariants = 4;
constexpr size_t kMaxPatch = 6, kMaxTaps = kMaxPatch * kMaxPatch;

// One tile. Bytes are centred on the way: the taps are those of x - 128 for u8, of x for s8.
struct WinogradInput {
  // Patch * patch addresses, line by line; `channels` bytes may be read at each
  const uint8_t* const* pixels;
  size_t channels;
  bool is_u8;
  // `channels` words each (bytes, for k2x2Int8), and as many more as a vector has beyond them
  uint8_t* taps;
  size_t tap_stride;  // bytes
  // k2x2Int8: per tap. Makes of word v the byte (v * factor + 2^14) >> 15, saturated to s8
  const int16_t* factors;
  uint8_t flip;  // and xor-ed with this
};

// One tile, some columns. y = init + what the products stand for, either stored as s32 or narrowed
// to 8 bits.
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
  const float* tap_scale;   // k2x2Int8: what a product stands for, like scale, for tap 0
  size_t tap_scale_stride;  // elements
};

using WinogradInputFn = void (*)(const WinogradInput&);
using WinogradOutputFn = void (*)(const WinogradOutput&);

struct WinogradOps {
  WinogradInputFn input[kWinogradVariants];
  WinogradOutputFn output[kWinogradVariants];
  uint8_t columns;  // that one call of output takes, at most
};

}  // namespace octet
