// SPDX-License-Identifier: Apache-2.0
// Self-test of s16 values: how they are split into bytes, and how the sums of the bytes' products
// become outputs; and of kernels that multiply s16 values as they are in the place of int8 kernels.
#include "dispatch/self_test/s16.h"

#include <string.h>

#include "dispatch/self_test/exact_float.h"
#include "dispatch/self_test/self_test.h"

namespace octet {
namespace {

// More than a vector of 64, and a part of the next.
bool splits(const TierOps& ops, ElementType bytes) {
  constexpr size_t kS16 = 77;
  int16_t s16[kS16];
  uint8_t high[kS16], low[kS16];
  for (size_t k = 0; k < kS16; ++k) s16[k] = (int16_t)(uint16_t)(k * 0x6d85 + 0x7f80);
  ops.split_s16({s16, kS16, high_flip(bytes), low_flip(bytes), high, low});
  for (size_t k = 0; k < kS16; ++k)
    if (256 * (int8_t)(high[k] ^ high_flip(bytes)) + (low[k] ^ low_flip(bytes)) != s16[k])
      return false;
  return true;
}

// The outputs of two rows of the same sums, whose accumulators are `acc`: sums of high and of low
// bytes, then of two parts.
template <typename T>
bool finishes(const TierOps& ops, const S16Epilogue& f, bool in_int32, const int64_t* acc,
              const T* expected) {
  int32_t sums[2][kS16TestColumns], wrapped[kS16TestColumns];
  double exact[kS16TestColumns];
  T out[2][kS16TestColumns];
  const auto rows_are = [&](S16Tile tile, int64_t factor) {
    for (size_t j = 0; j < kS16TestColumns; ++j) {
      sums[0][j] = (int32_t)((uint32_t)j * 0x2545f491);
      sums[1][j] = j ? (int32_t)((uint32_t)j * 0x9e3779b1) : INT32_MIN;
      // Of a part, the least int32 is 2^31
      const int64_t last = tile.parts && j == 0 ? -(int64_t)INT32_MIN : sums[1][j],
                    offset = acc[j] - factor * sums[0][j] - last;
      exact[j] = (double)offset;
      wrapped[j] = (int32_t)(uint32_t)offset;
    }
    memset(out, 0, sizeof out);
    tile.rows = 2, tile.cols = kS16TestColumns - 1;
    tile.offset = {exact, in_int32 ? wrapped : nullptr};
    tile.dst = (uint8_t*)out, tile.dst_stride = sizeof out[0];
    ops.finish_s16(f, tile);
    for (const T* row : out)
      if (memcmp(row, expected, (kS16TestColumns - 1) * sizeof(T)) != 0) return false;
    return true;
  };
  S16Tile bytes = {}, parts = {};
  bytes.high = sums[0], bytes.low = sums[1];
  parts.low = sums[0], parts.parts = 2, parts.parts_stride = kS16TestColumns;
  return rows_are(bytes, 256) && (in_int32 || rows_are(parts, 1));
}

bool finishes_integers(const TierOps& ops, S16Mode mode, bool in_int32, const S16Cases& cases) {
  S16Epilogue f = {};
  f.mode = mode;
  f.factor = cases.factor, f.up = cases.up;
  f.multiplier = cases.multiplier, f.right = cases.right;
  f.lo = kS16Lo, f.hi = kS16Hi;
  int32_t shifted[kS16TestColumns];
  bool in_kernel = mode == S16Mode::kTflite;
  for (size_t j = 0; j < kS16TestColumns; ++j) {
    in_kernel &= cases.right[j] >= 16 && cases.right[j] <= 32;
    shifted[j] = in_kernel ? cases.multiplier[j] << (32 - cases.right[j]) : 0;
  }
  if (in_kernel) f.in_kernel = (const float*)shifted;
  return finishes(ops, f, in_int32, cases.acc,
                  mode == S16Mode::kDouble ? cases.away : cases.tflite);
}

bool finishes_floats(const TierOps& ops, bool in_int32, const FloatCases& cases) {
  int64_t acc[kS16TestColumns];
  int16_t s16[kS16TestColumns];
  for (size_t j = 0; j < kS16TestColumns; ++j) {
    acc[j] = cases.acc[j];
    s16[j] = within_s16(cases.rounded[j]);
  }
  S16Epilogue f = {};
  f.mode = S16Mode::kFloat;
  f.scale = cases.scale;
  f.lo = kS16Lo, f.hi = kS16Hi;
  if (!finishes(ops, f, in_int32, acc, s16)) return false;
  f.in_kernel = cases.scale;
  if (!finishes(ops, f, in_int32, acc, s16)) return false;
  f.mode = S16Mode::kF32, f.in_kernel = nullptr;
  f.bias_f32 = cases.bias;
  f.lo = -__builtin_inff(), f.hi = __builtin_inff();
  return finishes(ops, f, in_int32, acc, cases.f32);
}

// s16 values and weights of a tile with a part of a group of each axis, extremes among them.
constexpr size_t kRows = 11, kColumns = 27, kS16Depth = 7, kWidths[] = {kColumns, 9};
int16_t s16_at(size_t i, size_t k) {
  return (i + k) % 5 == 0 ? INT16_MIN : (int16_t)(uint16_t)((i * kS16Depth + k) * 0x6d85);
}
int8_t weight_at(size_t k, size_t j) {
  return (j + k) % 3 == 0 ? INT8_MIN : (int8_t)(uint8_t)((k * kColumns + j) * 29);
}

bool sums_s16(const MicroKernel& kernel, Tile tile) {
  int32_t out[kRows][kColumns] = {};
  tile.dst = out, tile.dst_stride = sizeof out[0];
  kernel.multiply(tile);
  for (size_t i = 0; i < kRows; ++i)
    for (size_t j = 0; j < tile.cols; ++j) {
      int32_t sum = tile.init[j];
      for (size_t k = 0; k < kS16Depth; ++k) sum += s16_at(i, k) * weight_at(k, j);
      if (out[i][j] != sum) return false;
    }
  return true;
}

// Weights of 0, and accumulators that begin at `acc`.
bool ends_s16(const MicroKernel& kernel, Tile tile, const int32_t* acc, const void* scale,
              bool tflite, const int16_t* expected) {
  int16_t out[kRows][kColumns] = {};
  Requantization requantization = {0, kS16Lo, kS16Hi, ElementType::kS16};
  requantization.tflite_apart = tflite;
  tile.init = acc, tile.scale = (const float*)scale;
  tile.requantization = &requantization;
  tile.dst = out, tile.dst_stride = sizeof out[0];
  kernel.multiply(tile);
  for (const int16_t* row : out)
    if (memcmp(row, expected, tile.cols * sizeof *row) != 0) return false;
  return true;
}

}  // namespace

bool passes_s16(const MicroKernel& kernel) {
  constexpr size_t kGroups = 2;
  int16_t lhs[kRows][kS16Depth], taps[kGroups][kRows][4];  // as a row, and each group as a tap
  for (size_t i = 0; i < kRows; ++i)
    for (size_t k = 0; k < 4 * kGroups; ++k) {
      taps[k / 4][i][k % 4] = s16_at(i, k);
      if (k < kS16Depth) lhs[i][k] = s16_at(i, k);
    }
  const RhsLayout& layout = kernel.rhs_layout;
  const size_t group = layout.width * layout.kr, panel = kGroups * group;
  alignas(64) uint8_t rhs[kTileColumns * 4 * kGroups] = {};
  if (layout.kr != 4 || kernel.nr > kTileColumns) return false;
  for (size_t k = 0; k < kS16Depth; ++k)
    for (size_t j = 0; j < kColumns; ++j)
      rhs[j / layout.width * panel + k / 4 * group + j % layout.width * 4 + k % 4] =
          (uint8_t)weight_at(k, j);
  alignas(64) int32_t init[kS16TestColumns], multiplier[kS16TestColumns];
  for (size_t j = 0; j < kS16TestColumns; ++j) init[j] = (int32_t)j * 1000 - 9000;
  Tile tile = {};
  tile.lhs = lhs, tile.lhs_stride = sizeof lhs[0];
  tile.rhs = rhs, tile.rhs_stride = group, tile.rhs_panel_stride = panel;
  tile.depth = kS16Depth, tile.rows = kRows;
  tile.init = init;
  Tile tapped = tile;
  const ptrdiff_t step = sizeof taps[0];
  tapped.lhs = taps, tapped.lhs_stride = sizeof taps[0][0];
  tapped.depth = 4, tapped.taps = kGroups, tapped.tap_steps = &step;
  const auto sums = [&]() {
    for (const size_t columns : kWidths) {
      tile.cols = tapped.cols = columns;
      if (!sums_s16(kernel, tile) || !sums_s16(kernel, tapped)) return false;
    }
    return true;
  };
  if (!sums()) return false;
  if (kernel.decoder.decode) {  // ahead, for all tiles
    alignas(64) uint8_t decoded[2 * sizeof rhs];
    const Tile encoded = tile;
    const size_t decoded_panel = kGroups * kernel.decoder.group_bytes;
    if (divide_up(kColumns, layout.width) * decoded_panel > sizeof decoded) return false;
    decode_panels(kernel, rhs, group, panel, kColumns, kGroups, decoded);
    Tile* const both[] = {&tile, &tapped};
    for (Tile* const t : both) {
      t->rhs = decoded, t->rhs_decoded = true;
      t->rhs_stride = kernel.decoder.operand_stride, t->rhs_panel_stride = decoded_panel;
    }
    if (!sums()) return false;
    tile = encoded;
  }
  if (!rounds_to_nearest() || !kernel.is(kRequantizes)) return true;
  memset(rhs, 0, sizeof rhs);
  const FloatCases floats(Accumulators::kAll);
  const S16Cases s16(kLeastShiftInKernel);
  int16_t rounded[kS16TestColumns];
  for (size_t j = 0; j < kS16TestColumns; ++j) {
    rounded[j] = within_s16(floats.rounded[j]);
    init[j] = (int32_t)s16.acc[j];
    multiplier[j] = s16.multiplier[j] << (32 - s16.right[j]);
  }
  for (const size_t columns : kWidths) {
    tile.cols = columns;
    if (!ends_s16(kernel, tile, floats.acc, floats.scale, false, rounded) ||
        !ends_s16(kernel, tile, init, multiplier, true, s16.tflite))
      return false;
  }
  return true;
}

int16_t within_s16(int64_t x) { return (int16_t)(x < kS16Lo ? kS16Lo : x > kS16Hi ? kS16Hi : x); }

// Halves, one less than halves, and two multipliers of all bits beyond the clamp.
S16Cases::S16Cases(int least_shift) {
  constexpr int32_t kMultiplier[] = {1 << 14, 0x7fff, 0x5a83, 1 << 14};
  for (size_t j = 0; j < kS16TestColumns; ++j) {
    const int shift = least_shift + (int)(j / 4);
    const int64_t odd = 2 * (int64_t)j + 1, less = j % 4 == 3 ? 1 : 0,
                  size = (j % 4 % 3 ? 4097 : 1) * odd * power_of_2(shift) - less;
    acc[j] = j / 4 % 2 ? -size : size;
    multiplier[j] = kMultiplier[j % 4];
    right[j] = 15 + shift;
    up[j] = 0.5 / (double)power_of_2(right[j]);
    factor[j] = 2 * up[j] * multiplier[j];
    const int64_t half = power_of_2(right[j] - 1), product = acc[j] * multiplier[j],
                  magnitude = ((product < 0 ? -product : product) + half) >> right[j];
    tflite[j] = within_s16((product + half) >> right[j]);
    away[j] = within_s16(product < 0 ? -magnitude : magnitude);
  }
}

bool computes_s16(const TierOps& ops, const FloatCases& floats) {
  const S16Cases narrow(0), in_kernel(kLeastShiftInKernel), wide(kWideShift), widest(kWidestShift);
  return splits(ops, ElementType::kS8) && splits(ops, ElementType::kU8) &&
         finishes_integers(ops, S16Mode::kTflite, true, narrow) &&
         finishes_integers(ops, S16Mode::kTflite, true, in_kernel) &&
         finishes_integers(ops, S16Mode::kTflite, false, wide) &&
         finishes_integers(ops, S16Mode::kTfliteWidest, false, widest) &&
         finishes_integers(ops, S16Mode::kDouble, true, narrow) &&
         finishes_integers(ops, S16Mode::kDouble, false, wide) &&
         finishes_floats(ops, true, floats) && finishes_floats(ops, false, floats);
}

}  // namespace octet
