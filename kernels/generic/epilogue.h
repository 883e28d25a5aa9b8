// SPDX-License-Identifier: Apache-2.0
// The epilogue in plain loops over chunks of 16 columns: with a constant count, compilers vectorize
// them without code for a remainder. Each tier compiles this text once with its flags. It has no
// intrinsics, no reassociation and no contraction (-ffp-contract=off), so every tier rounds alike.
// Acc is int32_t, or float for the sums of scale blocks (kernels/core/scale_blocks.h).
//
// Everything is in an unnamed namespace: an inline function shared across tiers would be a weak
// symbol, of which the linker keeps one.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/compiler.h"
#include "kernels/core/double_scale.h"
#include "kernels/core/epilogue.h"
#include "kernels/core/tflite_scale.h"
#include "kernels/generic/round.h"

namespace octet {
namespace {

constexpr size_t kEpilogueChunk = 16;

inline int32_t clamp(int32_t x, int32_t lo, int32_t hi) {
  x = x < lo ? lo : x;
  return x > hi ? hi : x;
}

// A chunk of an array: where it is, if it is whole, else a copy followed by zeros.
template <typename T>
inline const T* chunk_of(const T* from, size_t count, T (&copy)[kEpilogueChunk]) {
  if (count == kEpilogueChunk) return from;
  __builtin_memset(copy, 0, sizeof copy);
  __builtin_memcpy(copy, from, count * sizeof(T));
  return copy;
}

// out = residual - zero point; s8 is read as u8 with the top bit flipped and the zero point moved.
inline void load_residual(const Epilogue& f, const uint8_t* residual, size_t count, int32_t* out) {
  const int32_t flip = f.residual_type == ElementType::kU8 ? 0 : 0x80,
                zero_point = f.residual_zero_point + flip;
  uint8_t some[kEpilogueChunk];
  const uint8_t* const bytes = chunk_of(residual, count, some);
  for (size_t j = 0; j < kEpilogueChunk; ++j) out[j] = (bytes[j] ^ flip) - zero_point;
}

// ---- one chunk: all arrays have kEpilogueChunk elements -----------------------------------------

// Adding it changes no float, not even a zero's sign.
constexpr float kNothing = -0.0f;
constexpr float kNoBias[kEpilogueChunk] = {
    kNothing, kNothing, kNothing, kNothing, kNothing, kNothing, kNothing, kNothing,
    kNothing, kNothing, kNothing, kNothing, kNothing, kNothing, kNothing, kNothing};

// Comparisons are false for NaN, so NaN is kept.
inline float clamp(float x, float lo, float hi) {
  x = x < lo ? lo : x;
  return x > hi ? hi : x;
}

template <typename Acc>
inline void epilogue_f32(const Epilogue& f, const Acc* acc, float row_scale, const float* scale,
                         const float* bias, float* out) {
  const float lo = f.lo_f32, hi = f.hi_f32;
  float value[kEpilogueChunk];  // out may alias acc, as far as compilers know
  for (size_t j = 0; j < kEpilogueChunk; ++j) {
    const float v = clamp((float)acc[j] * (row_scale * scale[j]) + bias[j], lo, hi);
    value[j] = v == v ? v : __builtin_nanf("");  // CPUs disagree on the sign of a computed NaN
  }
  __builtin_memcpy(out, value, sizeof value);
}

template <bool adds, typename Acc>
inline void epilogue_float8(const Epilogue& f, const Acc* acc, float row_scale, const float* scale,
                            const int32_t* residual, uint8_t* out) {
  const bool limits = adds && f.clamps_product;
  const float product_lo = limits ? f.product_lo_f32 : -__builtin_inff(),
              product_hi = limits ? f.product_hi_f32 : __builtin_inff(), lo = f.lo_f32,
              hi = f.hi_f32, residual_scale = f.residual_scale;
  const int32_t zero_point = f.zero_point;
  for (size_t j = 0; j < kEpilogueChunk; ++j) {
    float v = (float)acc[j] * (row_scale * scale[j]);
    if (adds) v = clamp(v, product_lo, product_hi) + (float)residual[j] * residual_scale;
    out[j] = (uint8_t)(round_half_even(clamp(v, lo, hi)) + zero_point);
  }
}

inline void epilogue_tflite8(const Epilogue& f, const int32_t* acc, const int32_t* multiplier,
                             const int32_t* shift, const int32_t* residual, uint8_t* out) {
  OCTET_NO_UNROLL
  for (size_t j = 0; j < kEpilogueChunk; ++j) {
    int32_t value = tflite_scale(acc[j], multiplier[j], shift[j]);
    if (residual) {  // TFLite's ADD on the requantized product
      const int32_t product = clamp(value, f.product_lo, f.product_hi);
      const int32_t a =
          tflite_scale(product * (1 << 20), f.product_scale.multiplier, f.product_scale.shift);
      const int32_t b = tflite_scale(residual[j] * (1 << 20), f.residual_tflite.multiplier,
                                     f.residual_tflite.shift);
      value = tflite_scale(a + b, f.sum_scale.multiplier, f.sum_scale.shift);
    }
    // Clamps before it adds the zero point: with a multiplier near 1 the sum could overflow.
    out[j] = (uint8_t)(clamp(value, f.lo - f.zero_point, f.hi - f.zero_point) + f.zero_point);
  }
}

inline void epilogue_double8(const Epilogue& f, const int32_t* acc, const double* factor,
                             uint8_t* out) {
  const double lo = f.lo_f32, hi = f.hi_f32;
  int32_t rounded[kEpilogueChunk];
  OCTET_NO_UNROLL
  for (size_t j = 0; j < kEpilogueChunk; ++j) rounded[j] = double_scale(acc[j], factor[j], lo, hi);
  for (size_t j = 0; j < kEpilogueChunk; ++j) out[j] = (uint8_t)(rounded[j] + f.zero_point);
}

// Columns from j on of row i.
template <typename Acc>
__attribute__((noinline)) void epilogue_chunk(const Epilogue& f, const EpilogueTile& t, size_t i,
                                              size_t j, size_t count) {
  const size_t n = t.column + j;
  uint8_t* const row = (uint8_t*)t.to.dst + i * t.to.stride;
  Acc accs[kEpilogueChunk];
  const Acc* const acc = chunk_of((const Acc*)t.acc + i * t.acc_stride + j, count, accs);
  const float row_scale = t.row_scale ? t.row_scale[i] : 1.0f;
  float scales[kEpilogueChunk];
  if (f.mode == EpilogueMode::kF32) {
    float biases[kEpilogueChunk], out[kEpilogueChunk], *const dst = (float*)row + j;
    const bool whole = count == kEpilogueChunk;
    epilogue_f32(f, acc, row_scale, chunk_of(f.scale + n, count, scales),
                 f.bias_f32 ? chunk_of(f.bias_f32 + n, count, biases) : kNoBias, whole ? dst : out);
    if (!whole) __builtin_memcpy(dst, out, count * sizeof(float));
    return;
  }
  int32_t residuals[kEpilogueChunk], *residual = nullptr;
  if (f.has_residual) {
    residual = residuals;
    load_residual(f, t.to.residual + i * t.to.residual_stride + j, count, residual);
  }
  uint8_t out[kEpilogueChunk];
  if (f.mode == EpilogueMode::kFloat8)
    (f.has_residual ? epilogue_float8<true, Acc>
                    : epilogue_float8<false, Acc>)(f, acc, row_scale,
                                                   chunk_of(f.scale + n, count, scales), residual,
                                                   out);
  if constexpr ((Acc)0.5f == 0) {  // only integers
    if (f.mode == EpilogueMode::kTflite8) {
      int32_t multipliers[kEpilogueChunk], shifts[kEpilogueChunk];
      epilogue_tflite8(f, acc, chunk_of(f.multiplier + n, count, multipliers),
                       chunk_of(f.shift + n, count, shifts), residual, out);
    } else if (f.mode == EpilogueMode::kDouble8) {
      double factors[kEpilogueChunk];
      epilogue_double8(f, acc, chunk_of(f.factor + n, count, factors), out);
    }
  }
  if (const uint8_t* const lut = f.lut)
    for (uint8_t& value : out) value = lut[value];
  __builtin_memcpy(row + j, out, count);
}

template <typename Acc = int32_t>
void apply_epilogue(const Epilogue& f, const EpilogueTile& t) {
  for (size_t i = 0; i < t.rows; ++i)
    for (size_t j = 0; j < t.cols; j += kEpilogueChunk)
      epilogue_chunk<Acc>(f, t, i, j, t.cols - j < kEpilogueChunk ? t.cols - j : kEpilogueChunk);
}

}  // namespace
}  // namespace octet
