// The epilogue in plain loops. Each tier compiles this text once with its own flags and the
// compiler vectorizes it. There are no intrinsics, no reassociation and no contraction
// (-ffp-contract=off), so every tier rounds alike.
//
// Everything is in an unnamed namespace: an inline function shared across tiers would be a weak
// symbol, of which the linker keeps one.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/epilogue.h"
#include "kernels/core/tflite_scale.h"
#include "kernels/generic/round.h"

namespace octet {
namespace {

constexpr size_t kEpilogueChunk = 64;

inline int32_t clamp(int32_t x, int32_t lo, int32_t hi) {
  x = x < lo ? lo : x;
  return x > hi ? hi : x;
}

// out = residual - zero point; s8 is read as u8 with the top bit flipped and the zero point moved.
inline void load_residual(const Epilogue& f, const uint8_t* residual, size_t cols, int32_t* out) {
  const int32_t flip = f.residual_type == ElementType::kU8 ? 0 : 0x80,
                zero_point = f.residual_zero_point + flip;
  for (size_t j = 0; j < cols; ++j) out[j] = (residual[j] ^ flip) - zero_point;
}

inline void epilogue_f32(const Epilogue& f, const int32_t* acc, const float* scale,
                         const float* bias, size_t cols, float* out) {
  for (size_t j = 0; j < cols; ++j) out[j] = (float)acc[j] * scale[j];
  if (bias)
    for (size_t j = 0; j < cols; ++j) out[j] = out[j] + bias[j];
  for (size_t j = 0; j < cols; ++j) {  // comparisons are false for NaN, so NaN is kept
    float v = out[j] < f.lo_f32 ? f.lo_f32 : out[j];
    v = v > f.hi_f32 ? f.hi_f32 : v;
    out[j] = v == v ? v : __builtin_nanf("");  // CPUs disagree on the sign of a computed NaN
  }
}

inline void clamp_floats(float lo, float hi, size_t cols, float* value) {
  for (size_t j = 0; j < cols; ++j) {
    const float v = value[j] < lo ? lo : value[j];
    value[j] = v > hi ? hi : v;
  }
}

inline void epilogue_float8(const Epilogue& f, const int32_t* acc, const float* scale,
                            const int32_t* residual, size_t cols, int32_t* out) {
  float value[kEpilogueChunk];
  for (size_t j = 0; j < cols; ++j) value[j] = (float)acc[j] * scale[j];
  if (residual) {
    if (f.clamps_product) clamp_floats(f.product_lo_f32, f.product_hi_f32, cols, value);
    for (size_t j = 0; j < cols; ++j) value[j] = value[j] + (float)residual[j] * f.residual_scale;
  }
  for (size_t j = 0; j < cols; ++j) {
    float v = value[j] < f.lo_f32 ? f.lo_f32 : value[j];
    v = v > f.hi_f32 ? f.hi_f32 : v;
    out[j] = round_half_even(v) + f.zero_point;
  }
}

inline void epilogue_tflite8(const Epilogue& f, const int32_t* acc, const int32_t* multiplier,
                             const int32_t* shift, const int32_t* residual, size_t cols,
                             int32_t* out) {
  for (size_t j = 0; j < cols; ++j) out[j] = tflite_scale(acc[j], multiplier[j], shift[j]);
  if (residual) {  // TFLite's ADD on the requantized product
    for (size_t j = 0; j < cols; ++j) {
      const int32_t product = clamp(out[j], f.product_lo, f.product_hi);
      const int32_t a =
          tflite_scale(product * (1 << 20), f.product_scale.multiplier, f.product_scale.shift);
      const int32_t b = tflite_scale(residual[j] * (1 << 20), f.residual_tflite.multiplier,
                                     f.residual_tflite.shift);
      out[j] = tflite_scale(a + b, f.sum_scale.multiplier, f.sum_scale.shift);
    }
  }
  // Clamps before it adds the zero point, because with a multiplier near 1 the sum could overflow.
  for (size_t j = 0; j < cols; ++j)
    out[j] = clamp(out[j], f.lo - f.zero_point, f.hi - f.zero_point) + f.zero_point;
}

inline void store8(const int32_t* value, const uint8_t* lut, size_t cols, uint8_t* dst) {
  if (lut)
    for (size_t j = 0; j < cols; ++j) dst[j] = lut[(uint8_t)value[j]];
  else
    for (size_t j = 0; j < cols; ++j) dst[j] = (uint8_t)value[j];
}

inline void apply_epilogue(const Epilogue& f, const EpilogueTile& t) {
  for (size_t i = 0; i < t.rows; ++i) {
    for (size_t j = 0; j < t.cols; j += kEpilogueChunk) {
      const size_t cols = t.cols - j < kEpilogueChunk ? t.cols - j : kEpilogueChunk,
                   n = t.column + j;
      const int32_t* acc = t.acc + i * t.acc_stride + j;
      uint8_t* row = (uint8_t*)t.to.dst + i * t.to.stride;

      float row_scaled[kEpilogueChunk];
      const float* scale = f.scale ? f.scale + n : nullptr;
      if (t.row_scale && scale) {
        for (size_t c = 0; c < cols; ++c) row_scaled[c] = t.row_scale[i] * scale[c];
        scale = row_scaled;
      }
      if (f.mode == EpilogueMode::kF32) {
        epilogue_f32(f, acc, scale, f.bias_f32 ? f.bias_f32 + n : nullptr, cols, (float*)row + j);
        continue;
      }
      int32_t residual_buffer[kEpilogueChunk], value[kEpilogueChunk];
      const int32_t* residual = nullptr;
      if (f.has_residual) {
        load_residual(f, t.to.residual + i * t.to.residual_stride + j, cols, residual_buffer);
        residual = residual_buffer;
      }
      if (f.mode == EpilogueMode::kFloat8)
        epilogue_float8(f, acc, scale, residual, cols, value);
      else
        epilogue_tflite8(f, acc, f.multiplier + n, f.shift + n, residual, cols, value);
      store8(value, f.lut, cols, row + j);
    }
  }
}

}  // namespace
}  // namespace octet
