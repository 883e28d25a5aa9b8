// Self-test of words (s16): how they are split into bytes, and how the sums of the bytes' products
// become outputs. The products themselves are those of int8 kernels.
#include "dispatch/self_test/words.h"

#include <string.h>

#include "dispatch/self_test/exact_float.h"

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

}  // namespace

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
