// Self-test of words (s16): how they are split into bytes, and how the sums of the bytes' products
// become outputs; and of kernels that multiply words as they are in the place of int8 kernels.
#include "dispatch/self_test/words.h"

#include <string.h>

#include "dispatch/self_test/exact_float.h"
#include "dispatch/self_test/self_test.h"

namespace octet {
namespace {

// More than a vector of 64, and a part of the next.
bool splits(const TierOps& ops, ElementType bytes) {
  constexpr size_t kWords = 77;
  int16_t words[kWords];
  uint8_t high[kWords], low[kWords];
  for (size_t k = 0; k < kWords; ++k) words[k] = (int16_t)(uint16_t)(k * 0x6d85 + 0x7f80);
  ops.split_words({words, kWords, high_flip(bytes), low_flip(bytes), high, low});
  for (size_t k = 0; k < kWords; ++k)
    if (256 * (int8_t)(high[k] ^ high_flip(bytes)) + (low[k] ^ low_flip(bytes)) != words[k])
      return false;
  return true;
}

// The outputs of two rows of the same sums, whose accumulators are `acc`.
template <typename T>
bool finishes(const TierOps& ops, const WordEpilogue& f, bool in_int32, const int64_t* acc,
              const T* expected) {
  int32_t high[kWordTestColumns], low[kWordTestColumns], wrapped[kWordTestColumns];
  double exact[kWordTestColumns];
  T out[2][kWordTestColumns];
  for (size_t j = 0; j < kWordTestColumns; ++j) {
    high[j] = (int32_t)((uint32_t)j * 0x2545f491), low[j] = (int32_t)((uint32_t)j * 0x9e3779b1);
    const int64_t offset = acc[j] - 256 * (int64_t)high[j] - low[j];
    exact[j] = (double)offset;
    wrapped[j] = (int32_t)(uint32_t)offset;
  }
  ops.finish_words(f, {high,
                       low,
                       0,
                       2,
                       kWordTestColumns - 1,
                       0,
                       {exact, in_int32 ? wrapped : nullptr},
                       (uint8_t*)out,
                       sizeof out[0]});
  for (const T* row : out)
    if (memcmp(row, expected, (kWordTestColumns - 1) * sizeof(T)) != 0) return false;
  return true;
}

bool finishes_integers(const TierOps& ops, WordMode mode, bool in_int32, const WordCases& cases) {
  WordEpilogue f = {};
  f.mode = mode;
  f.factor = cases.factor, f.up = cases.up;
  f.multiplier = cases.multiplier, f.right = cases.right;
  f.lo = kWordsLo, f.hi = kWordsHi;
  int32_t shifted[kWordTestColumns];
  bool in_kernel = mode == WordMode::kTflite;
  for (size_t j = 0; j < kWordTestColumns; ++j) {
    in_kernel &= cases.right[j] >= 16 && cases.right[j] <= 32;
    shifted[j] = in_kernel ? cases.multiplier[j] << (32 - cases.right[j]) : 0;
  }
  if (in_kernel) f.in_kernel = (const float*)shifted;
  return finishes(ops, f, in_int32, cases.acc,
                  mode == WordMode::kDouble ? cases.away : cases.tflite);
}

bool finishes_floats(const TierOps& ops, bool in_int32, const FloatCases& cases) {
  int64_t acc[kWordTestColumns];
  int16_t words[kWordTestColumns];
  for (size_t j = 0; j < kWordTestColumns; ++j) {
    acc[j] = cases.acc[j];
    words[j] = within_words(cases.rounded[j]);
  }
  WordEpilogue f = {};
  f.mode = WordMode::kFloat;
  f.scale = cases.scale;
  f.lo = kWordsLo, f.hi = kWordsHi;
  if (!finishes(ops, f, in_int32, acc, words)) return false;
  f.in_kernel = cases.scale;
  if (!finishes(ops, f, in_int32, acc, words)) return false;
  f.mode = WordMode::kF32, f.in_kernel = nullptr;
  f.bias_f32 = cases.bias;
  f.lo = -__builtin_inff(), f.hi = __builtin_inff();
  return finishes(ops, f, in_int32, acc, cases.f32);
}

// Words and weights of a tile with a part of a group of each axis, extremes among them.
constexpr size_t kRows = 11, kColumns = 27, kWordDepth = 7, kWidths[] = {kColumns, 9};
int16_t word_at(size_t i, size_t k) {
  return (i + k) % 5 == 0 ? INT16_MIN : (int16_t)(uint16_t)((i * kWordDepth + k) * 0x6d85);
}
int8_t weight_at(size_t k, size_t j) {
  return (j + k) % 3 == 0 ? INT8_MIN : (int8_t)(uint8_t)((k * kColumns + j) * 29);
}

bool sums_words(const MicroKernel& kernel, Tile tile) {
  int32_t out[kRows][kColumns] = {};
  tile.dst = out, tile.dst_stride = sizeof out[0];
  kernel.multiply(tile);
  for (size_t i = 0; i < kRows; ++i)
    for (size_t j = 0; j < tile.cols; ++j) {
      int32_t sum = tile.init[j];
      for (size_t k = 0; k < kWordDepth; ++k) sum += word_at(i, k) * weight_at(k, j);
      if (out[i][j] != sum) return false;
    }
  return true;
}

// Weights of 0, and accumulators that begin at `acc`.
bool ends_words(const MicroKernel& kernel, Tile tile, const int32_t* acc, const void* scale,
                bool tflite, const int16_t* expected) {
  int16_t out[kRows][kColumns] = {};
  Requantization requantization = {0, kWordsLo, kWordsHi, ElementType::kS16};
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

bool passes_words(const MicroKernel& kernel) {
  constexpr size_t kGroups = 2;
  int16_t lhs[kRows][kWordDepth];
  for (size_t i = 0; i < kRows; ++i)
    for (size_t k = 0; k < kWordDepth; ++k) lhs[i][k] = word_at(i, k);
  const RhsLayout& layout = kernel.rhs_layout;
  const size_t group = layout.width * layout.kr, panel = kGroups * group;
  alignas(64) uint8_t rhs[kTileColumns * 4 * kGroups] = {};
  if (layout.kr != 4 || kernel.nr > kTileColumns) return false;
  for (size_t k = 0; k < kWordDepth; ++k)
    for (size_t j = 0; j < kColumns; ++j)
      rhs[j / layout.width * panel + k / 4 * group + j % layout.width * 4 + k % 4] =
          (uint8_t)weight_at(k, j);
  alignas(64) int32_t init[kWordTestColumns], multiplier[kWordTestColumns];
  for (size_t j = 0; j < kWordTestColumns; ++j) init[j] = (int32_t)j * 1000 - 9000;
  Tile tile = {};
  tile.lhs = lhs, tile.lhs_stride = sizeof lhs[0];
  tile.rhs = rhs, tile.rhs_stride = group, tile.rhs_panel_stride = panel;
  tile.depth = kWordDepth, tile.rows = kRows;
  tile.init = init;
  for (const size_t columns : kWidths) {
    tile.cols = columns;
    if (!sums_words(kernel, tile)) return false;
  }
  if (!rounds_to_nearest() || !kernel.is(kRequantizes)) return true;
  memset(rhs, 0, sizeof rhs);
  const FloatCases floats(Accumulators::kAll);
  const WordCases words(kLeastShiftInKernel);
  int16_t rounded[kWordTestColumns];
  for (size_t j = 0; j < kWordTestColumns; ++j) {
    rounded[j] = within_words(floats.rounded[j]);
    init[j] = (int32_t)words.acc[j];
    multiplier[j] = words.multiplier[j] << (32 - words.right[j]);
  }
  for (const size_t columns : kWidths) {
    tile.cols = columns;
    if (!ends_words(kernel, tile, floats.acc, floats.scale, false, rounded) ||
        !ends_words(kernel, tile, init, multiplier, true, words.tflite))
      return false;
  }
  return true;
}

int16_t within_words(int64_t x) {
  return (int16_t)(x < kWordsLo ? kWordsLo : x > kWordsHi ? kWordsHi : x);
}

// Halves, one less than halves, and two multipliers of all bits beyond the clamp.
WordCases::WordCases(int least_shift) {
  constexpr int32_t kMultiplier[] = {1 << 14, 0x7fff, 0x5a83, 1 << 14};
  for (size_t j = 0; j < kWordTestColumns; ++j) {
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
    tflite[j] = within_words((product + half) >> right[j]);
    away[j] = within_words(product < 0 ? -magnitude : magnitude);
  }
}

bool computes_words(const TierOps& ops, const FloatCases& floats) {
  const WordCases narrow(0), in_kernel(kLeastShiftInKernel), wide(kWideShift), widest(kWidestShift);
  return splits(ops, ElementType::kS8) && splits(ops, ElementType::kU8) &&
         finishes_integers(ops, WordMode::kTflite, true, narrow) &&
         finishes_integers(ops, WordMode::kTflite, true, in_kernel) &&
         finishes_integers(ops, WordMode::kTflite, false, wide) &&
         finishes_integers(ops, WordMode::kTfliteWidest, false, widest) &&
         finishes_integers(ops, WordMode::kDouble, true, narrow) &&
         finishes_integers(ops, WordMode::kDouble, false, wide) &&
         finishes_floats(ops, true, floats) && finishes_floats(ops, false, floats);
}

}  // namespace octet
