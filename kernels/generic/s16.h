// SPDX-License-Identifier: Apache-2.0
// Splits s16 values and finishes their products in plain loops, compiled once per tier like
// epilogue.h. Accumulators are below 2^48, hence exact as doubles.
#pragma once

#include "kernels/core/compiler.h"
#include "kernels/core/s16.h"
#include "kernels/generic/round.h"

namespace octet {
namespace {

[[maybe_unused]] void split_s16(const S16Row& row) {
  const S16Row r = row;  // a copy, because stores of bytes may alias `row`
  for (size_t k = 0; k < r.depth; ++k) {
    const uint16_t word = (uint16_t)r.s16[k];
    r.high[k] = (uint8_t)(word >> 8 ^ r.high_flip);
    r.low[k] = (uint8_t)(word ^ r.low_flip);
  }
}

// ---- one chunk: all arrays have kS16Columns elements -------------------------------------------

constexpr double kAbove = 6755399441055744.0;  // 1.5 * 2^52: leaves no bits for a fraction

// Calls f(j) for each column, in a loop that stays one, so that compilers make vectors of it: once
// unrolled it would be scalars.
template <typename F>
OCTET_INLINE inline void for_columns(const F& f) {
  OCTET_NO_UNROLL
  for (size_t j = 0; j < kS16Columns; ++j) f(j);
}

// The sums of a tile: acc = factor * high + low + offset. Sums of s16 values are low sums, with a
// factor of 0 before any others, which keeps their code out.
struct S16Sums {
  const int32_t *high, *low;
  uint32_t mask;  // of 256 * high
  double factor;
  size_t parts, parts_stride;
  explicit S16Sums(const S16Tile& t)
      : high(t.high ? t.high : t.low),
        low(t.low),
        mask(t.high ? ~(uint32_t)0 : 0),
        factor(t.high ? 256.0 : 0.0),
        parts(t.parts),
        parts_stride(t.parts_stride) {}

  // As int32, where all fit: intermediate sums may wrap.
  OCTET_INLINE inline void add(size_t at, const int32_t* offset, int32_t* acc) const {
    for_columns([&](size_t j) OCTET_INLINE {
      acc[j] = (int32_t)(((uint32_t)high[at + j] << 8 & mask) + (uint32_t)low[at + j] +
                         (uint32_t)offset[j]);
    });
  }
  OCTET_INLINE inline void add(size_t at, const double* offset, double* acc) const {
    if (parts) return add_parts(low + at, offset, acc);
    for_columns([&](size_t j) OCTET_INLINE {
      acc[j] = factor * (double)high[at + j] + (double)low[at + j] + offset[j];
    });
  }
  // Sums less one fit int32.
  OCTET_INLINE inline void add_parts(const int32_t* from, const double* offset, double* acc) const {
    const double ones = (double)parts;
    for_columns([&](size_t j) OCTET_INLINE { acc[j] = offset[j] + ones; });
    OCTET_NO_UNROLL
    for (size_t left = parts; left; --left, from += parts_stride)
      for_columns([&](size_t j)
                      OCTET_INLINE { acc[j] += (double)(int32_t)((uint32_t)from[j] - 1); });
  }
};

OCTET_INLINE inline double within(double value, double lo, double hi) {
  value = value < lo ? lo : value;
  return value > hi ? hi : value;
}

// One rounding, halves up: `up`, half of the last bit of such products, brings halves over the
// middle and nothing else. All is exact but the last addition, which rounds: 31 and 15 bits and
// one.
OCTET_INLINE inline void tflite_int32(const int32_t* acc, const double* factor, const double* up,
                                      double lo, double hi, int16_t* out) {
  int64_t bits[kS16Columns];
  int32_t low[kS16Columns];
  for_columns([&](size_t j) OCTET_INLINE {
    const double sum = within((double)acc[j] * factor[j], lo, hi) + up[j] + kAbove;
    __builtin_memcpy(bits + j, &sum, sizeof sum);
  });
  for_columns([&](size_t j) OCTET_INLINE { low[j] = (int32_t)bits[j]; });
  for_columns([&](size_t j) OCTET_INLINE { out[j] = (int16_t)low[j]; });
}

// The same outputs of products of 38 and 15 bits, which leave no bit for `up`.
OCTET_INLINE inline void tflite_double(const double* acc, const double* factor, double lo,
                                       double hi, int16_t* out) {
  double rounded[kS16Columns];  // converted later: compilers then take their widest vectors
  for_columns([&](size_t j) OCTET_INLINE {
    const double value = within(acc[j] * factor[j], lo, hi);
    const double even = (value + kAbove) - kAbove;  // halves to even
    rounded[j] = even + (value - even == 0.5 ? 1.0 : 0.0);
  });
  for_columns([&](size_t j) OCTET_INLINE { out[j] = (int16_t)(int32_t)rounded[j]; });
}

OCTET_INLINE inline void tflite_int64(const double* acc, const int32_t* multiplier,
                                      const int32_t* right, int64_t lo, int64_t hi, int16_t* out) {
  for_columns([&](size_t j) OCTET_INLINE {
    const int64_t half = (int64_t)1 << (right[j] - 1);
    const int64_t value = ((int64_t)acc[j] * multiplier[j] + half) >> right[j];
    out[j] = (int16_t)(value < lo ? lo : value > hi ? hi : value);
  });
}

// Halves away from zero.
template <typename Acc>
OCTET_INLINE inline void double_s16(const Acc* acc, const double* factor, double lo, double hi,
                                    int16_t* out) {
  double rounded[kS16Columns];
  for_columns([&](size_t j) OCTET_INLINE {
    const double value = within((double)acc[j] * factor[j], lo, hi),
                 even = (value + kAbove) - kAbove, rest = value - even;
    rounded[j] =
        even + (rest == 0.5 && value > 0 ? 1.0 : 0.0) - (rest == -0.5 && value < 0 ? 1.0 : 0.0);
  });
  for_columns([&](size_t j) OCTET_INLINE { out[j] = (int16_t)(int32_t)rounded[j]; });
}

template <typename Acc>
OCTET_INLINE inline void float_s16(const Acc* acc, const float* scale, float lo, float hi,
                                   int16_t* out) {
  int32_t rounded[kS16Columns];
  for_columns([&](size_t j) OCTET_INLINE {
    float value = (float)acc[j] * scale[j];
    value = value < lo ? lo : value;
    value = value > hi ? hi : value;
    rounded[j] = round_half_even(value);
  });
  for_columns([&](size_t j) OCTET_INLINE { out[j] = (int16_t)rounded[j]; });
}

// bias: null for none.
template <typename Acc>
OCTET_INLINE inline void f32_s16(const Acc* acc, const float* scale, const float* bias, float lo,
                                 float hi, float* out) {
  for_columns([&](size_t j) OCTET_INLINE {
    float value = (float)acc[j] * scale[j];
    if (bias) value += bias[j];
    value = value < lo ? lo : value;
    value = value > hi ? hi : value;
    out[j] = value == value ? value : __builtin_nanf("");  // CPUs disagree on its sign
  });
}

// ---- a tile -------------------------------------------------------------------------------------

// Calls chunk(sums at, column in the tile, out) for each chunk of a tile of outputs T. The tile,
// and what chunks capture, are copies, because stores may alias them.
template <typename T, typename Chunk>
void for_each_chunk(const S16Tile t, const Chunk chunk) {
  for (size_t i = 0; i < t.rows; ++i) {
    uint8_t* const dst = t.dst + i * t.dst_stride;
    for (size_t j = 0; j < t.cols; j += kS16Columns) {
      T out[kS16Columns];
      chunk(i * t.sums_stride + j, j, out);
      if (t.cols - j >= kS16Columns)
        __builtin_memcpy(dst + j * sizeof(T), out, sizeof out);
      else
        __builtin_memcpy(dst + j * sizeof(T), out, (t.cols - j) * sizeof(T));
    }
  }
}

// An array from a column on. A mode leaves the arrays of the others null.
template <typename T>
const T* from_column(const T* array, size_t column) {
  return array ? array + column : nullptr;
}

// The modes that take accumulators of either kind. add(sums at, column, acc) makes a chunk's.
template <typename Acc, typename Add>
void finish_floats(const S16Epilogue& f, const S16Tile& t, const Add& add) {
  const double* const factor = from_column(f.factor, t.column);
  const float* const scale = from_column(f.scale, t.column);
  const float* const bias = from_column(f.bias_f32, t.column);
  const float lo = f.lo, hi = f.hi;
  if (f.mode == S16Mode::kF32)
    return for_each_chunk<float>(t, [=](size_t at, size_t j, float* out) OCTET_INLINE {
      Acc acc[kS16Columns];
      add(at, j, acc);
      f32_s16(acc, scale + j, bias ? bias + j : nullptr, lo, hi, out);
    });
  if (f.mode == S16Mode::kDouble)
    return for_each_chunk<int16_t>(t, [=](size_t at, size_t j, int16_t* out) OCTET_INLINE {
      Acc acc[kS16Columns];
      add(at, j, acc);
      double_s16(acc, factor + j, (double)lo, (double)hi, out);
    });
  for_each_chunk<int16_t>(t, [=](size_t at, size_t j, int16_t* out) OCTET_INLINE {
    Acc acc[kS16Columns];
    add(at, j, acc);
    float_s16(acc, scale + j, lo, hi, out);
  });
}

inline void finish_int32(const S16Epilogue& f, const S16Tile& t) {
  const S16Sums sums(t);
  const int32_t* const offset = t.offset.in_int32;
  const auto add = [=](size_t at, size_t j, int32_t* acc)
                       OCTET_INLINE { sums.add(at, offset + j, acc); };
  if (f.mode != S16Mode::kTflite) return finish_floats<int32_t>(f, t, add);
  const double *const factor = f.factor + t.column, *const up = f.up + t.column;
  const double lo = (double)f.lo, hi = (double)f.hi;
  for_each_chunk<int16_t>(t, [=](size_t at, size_t j, int16_t* out) OCTET_INLINE {
    int32_t acc[kS16Columns];
    add(at, j, acc);
    tflite_int32(acc, factor + j, up + j, lo, hi, out);
  });
}

inline void finish_double(const S16Epilogue& f, const S16Tile& t) {
  const S16Sums sums(t);
  const double* const offset = t.offset.in_double;
  const auto add = [=](size_t at, size_t j, double* acc)
                       OCTET_INLINE { sums.add(at, offset + j, acc); };
  if (f.mode != S16Mode::kTflite && f.mode != S16Mode::kTfliteWidest)
    return finish_floats<double>(f, t, add);
  const double* const factor = from_column(f.factor, t.column);
  const int32_t* const multiplier = from_column(f.multiplier, t.column);
  const int32_t* const right = from_column(f.right, t.column);
  const double lo = (double)f.lo, hi = (double)f.hi;
  const bool widest = f.mode == S16Mode::kTfliteWidest;
  for_each_chunk<int16_t>(t, [=](size_t at, size_t j, int16_t* out) OCTET_INLINE {
    double acc[kS16Columns];
    add(at, j, acc);
    if (widest)
      tflite_int64(acc, multiplier + j, right + j, (int64_t)lo, (int64_t)hi, out);
    else
      tflite_double(acc, factor + j, lo, hi, out);
  });
}

[[maybe_unused]] void finish_s16(const S16Epilogue& f, const S16Tile& t) {
  if (t.offset.in_int32)
    finish_int32(f, t);
  else
    finish_double(f, t);
}

}  // namespace
}  // namespace octet
