// What Winograd's algorithm needs of an ISA besides a kernel that multiplies words: its two transforms. The first makes from a patch of the input one
// word per tap and channel, the second makes outputs from the products. Everything is integer and linear, so sums may wrap as long as the last one fits.
#pragma once

#include "kernels/core/finish.h"
#include "kernels/core/layout.h"

namespace octet {

struct Narrow;

// The index of WinogradOps' functions. outputs x outputs, of a 3x3 kernel.
enum class Winograd : uint8_t { k2x2, k4x4, k2x2Stride2 };
constexpr size_t kWinogradForms = 3;
constexpr size_t kMaxPatch = 6, kMaxTaps = kMaxPatch * kMaxPatch;

// One tile. Bytes are centred on the way: the taps are those of x - 128 for u8, of x for s8.
struct WinogradInput {
  const uint8_t* const* pixels;  // patch * patch addresses, line by line; `channels` bytes may be read at each
  size_t channels;
  bool is_u8;
  int16_t* taps;                 // `channels` words each, and as many more as a vector has beyond them
  size_t tap_stride;             // elements
};

// One tile, some columns. y = init + what the products stand for, either stored as s32 or narrowed to 8 bits.
struct WinogradOutput {
  const int32_t* products;       // per tap; readable up to cols rounded up to the layout's step
  size_t tap_stride;             // elements
  size_t cols;                   // 1..nr
  const int32_t* init;           // as in Tile, per output of the tile, line by line
  size_t init_stride;            // elements; 0 = one row for all
  size_t height, width;          // outputs that exist, from the top left
  void* dst;
  size_t dst_pixel, dst_line;    // bytes
  const float* scale;            // null: s32. As in Tile
  const Narrow* narrow;
};

using WinogradInputFn = void (*)(const WinogradInput&);
using WinogradOutputFn = void (*)(const WinogradOutput&);

struct WinogradOps {
  WinogradInputFn input[kWinogradForms];
  WinogradOutputFn output[kWinogradForms];
};

}  // namespace octet
