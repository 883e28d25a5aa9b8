// Splits words and finishes their products in plain loops, compiled once per tier like epilogue.h.
// Accumulators are below 2^48, hence exact as doubles.
#pragma once

#include "kernels/core/compiler.h"
#include "kernels/core/words.h"
#include "kernels/generic/round.h"

namespace octet {
namespace {

[[maybe_unused]] void split_words(const WordRow& row) {
  const WordRow r = row;  // a copy, because stores of bytes may alias `row`
  for (size_t k = 0; k < r.depth; ++k) {
    const uint16_t word = (uint16_t)r.words[k];
    r.high[k] = (uint8_t)(word >> 8 ^ r.high_flip);
    r.low[k] = (uint8_t)(word ^ r.low_flip);
  }
}

// ---- one chunk: all arrays have kWordColumns elements -------------------------------------------

// One rounding, halves up. The product is exact: 38 and 15 bits.
inline void tflite_words(const double* acc, const double* factor, double lo, double hi,
                         int16_t* out) {
  constexpr double kAbove = 6755399441055744.0;  // 1.5 * 2^52: leaves no bits for a fraction
  double rounded[kWordColumns];  // converted later: compilers then take their widest vectors
  for (size_t j = 0; j < kWordColumns; ++j) {
    double value = acc[j] * factor[j];
    value = value < lo ? lo : value;
    value = value > hi ? hi : value;
    const double even = (value + kAbove) - kAbove;  // halves to even
    rounded[j] = even + (value - even == 0.5 ? 1.0 : 0.0);
  }
  for (size_t j = 0; j < kWordColumns; ++j) out[j] = (int16_t)(int32_t)rounded[j];
}

inline void wide_tflite_words(const double* acc, const int32_t* multiplier, const int32_t* right,
                              int64_t lo, int64_t hi, int16_t* out) {
  OCTET_NO_UNROLL
  for (size_t j = 0; j < kWordColumns; ++j) {
    const int64_t half = (int64_t)1 << (right[j] - 1);
    const int64_t value = ((int64_t)acc[j] * multiplier[j] + half) >> right[j];
    out[j] = (int16_t)(value < lo ? lo : value > hi ? hi : value);
  }
}

inline void float_words(const double* acc, const float* scale, float lo, float hi, int16_t* out) {
  int32_t rounded[kWordColumns];
  for (size_t j = 0; j < kWordColumns; ++j) {
    float value = (float)acc[j] * scale[j];
    value = value < lo ? lo : value;
    value = value > hi ? hi : value;
    rounded[j] = round_half_even(value);
  }
  for (size_t j = 0; j < kWordColumns; ++j) out[j] = (int16_t)rounded[j];
}

// bias: null for none.
inline void f32_words(const double* acc, const float* scale, const float* bias, float lo, float hi,
                      float* out) {
  for (size_t j = 0; j < kWordColumns; ++j) {
    float value = (float)acc[j] * scale[j];
    if (bias) value += bias[j];
    value = value < lo ? lo : value;
    value = value > hi ? hi : value;
    out[j] = value == value ? value : __builtin_nanf("");  // CPUs disagree on its sign
  }
}

[[maybe_unused]] void finish_words(const WordEpilogue& given, const WordTile& tile) {
  const WordEpilogue f = given;  // copies, because stores may alias them
  const WordTile t = tile;
  for (size_t i = 0; i < t.rows; ++i) {
    const int32_t *const high = t.high + i * t.sums_stride, *const low = t.low + i * t.sums_stride;
    for (size_t j = 0; j < t.cols; j += kWordColumns) {
      const size_t n = t.column + j, count = t.cols - j < kWordColumns ? t.cols - j : kWordColumns;
      double acc[kWordColumns];
      for (size_t c = 0; c < kWordColumns; ++c)
        acc[c] = 256.0 * (double)high[j + c] + (double)low[j + c] + t.offset[j + c];
      int16_t words[kWordColumns];
      if (f.mode == WordMode::kF32) {
        float out[kWordColumns];
        f32_words(acc, f.scale + n, f.bias_f32 ? f.bias_f32 + n : nullptr, f.lo, f.hi, out);
        __builtin_memcpy(t.dst + i * t.dst_stride + j * sizeof *out, out, count * sizeof *out);
        continue;
      }
      if (f.mode == WordMode::kFloat)
        float_words(acc, f.scale + n, f.lo, f.hi, words);
      else if (f.mode == WordMode::kTflite)
        tflite_words(acc, f.factor + n, (double)f.lo, (double)f.hi, words);
      else
        wide_tflite_words(acc, f.multiplier + n, f.right + n, (int64_t)f.lo, (int64_t)f.hi, words);
      uint8_t* const to = t.dst + i * t.dst_stride + j * sizeof *words;
      if (count == kWordColumns)
        __builtin_memcpy(to, words, sizeof words);
      else
        __builtin_memcpy(to, words, count * sizeof *words);
    }
  }
}

}  // namespace
}  // namespace octet
