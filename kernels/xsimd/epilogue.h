// SPDX-License-Identifier: Apache-2.0
// The epilogue from a tile of accumulators in memory, two vectors of columns at a time.
// Compilers do not vectorize kernels/generic/epilogue.h for tiles as narrow as these kernels'; that
// text still does everything else.
#pragma once

#include "kernels/generic/epilogue.h"
#include "kernels/xsimd/store.h"

namespace octet {
namespace {

// Widens a residual's u8 to sums.
OCTET_INLINE inline void widen_int8(Batch<uint8_t> bytes, Sums (&to)[2]) {
  const Int16 int16 = as<Int16>(xsimd::zip_lo(bytes, Batch<uint8_t>((uint8_t)0))), zero((int16_t)0);
  to[0] = as<Sums>(xsimd::zip_lo(int16, zero));
  to[1] = as<Sums>(xsimd::zip_hi(int16, zero));
}

// kernels/core/tflite_scale.h in lanes. A division by 2^right is a multiplication by
// 2^(kMostRight - right) and a shift by kMostRight, because shifts are by the same count in all
// lanes.
constexpr int kMostRight = 30;
struct TfliteLanes {
  Sums left, multiplier, power, divided;  // left: 1 << left; divided: all ones where right > 0

  static bool knows(int32_t shift) { return shift >= -kMostRight && shift <= kMostRight; }
  // shifted: a factor that is applied first, a shift to the left
  TfliteLanes(const int32_t* multipliers, const int32_t* shifts, int32_t shifted = 1)
      : multiplier(load<int32_t>(multipliers)) {
    int32_t lefts[kLanes], powers[kLanes], divides[kLanes];
    for (int i = 0; i < kLanes; ++i) {
      const int32_t by = shifts[i] > 0 ? shifts[i] : 0, right = by - shifts[i];
      lefts[i] = (int32_t)((uint32_t)shifted << by);
      powers[i] = 1 << (kMostRight - right);
      divides[i] = right ? -1 : 0;
    }
    left = load<int32_t>(lefts);
    power = load<int32_t>(powers);
    divided = load<int32_t>(divides);
  }
  static TfliteLanes all(const TfliteScale& by, int32_t shifted) {
    int32_t multipliers[kLanes], shifts[kLanes];
    for (int i = 0; i < kLanes; ++i) multipliers[i] = by.multiplier, shifts[i] = by.shift;
    return {multipliers, shifts, shifted};
  }
  OCTET_INLINE inline Sums scale(Sums x) const {
    const Sums high = multiply_high<31>(x * left, multiplier);
    // Minus 1 where negative and divided, which rounds halves away from zero
    return multiply_high<kMostRight>(high + ((high >> 31) & divided), power);
  }
};

bool knows_tflite(const Epilogue& f, const EpilogueTile& t) {
  for (size_t n = t.column; n < t.column + t.cols; ++n)
    if (!TfliteLanes::knows(f.shift[n])) return false;
  return !f.has_residual ||
         (TfliteLanes::knows(f.product_scale.shift) &&
          TfliteLanes::knows(f.residual_tflite.shift) && TfliteLanes::knows(f.sum_scale.shift));
}

// Stores two vectors of values, which are in the output's range already, as bytes.
OCTET_INLINE inline void store_outputs(const Epilogue& f, const Sums (&q)[2], uint8_t* dst) {
  const Int16 int16 = to_int16(q[0], q[1]);
  uint8_t bytes[Batch<uint8_t>::size];
  (f.dst_type == ElementType::kU8 ? to_u8(int16, int16) : as<Batch<uint8_t>>(to_s8(int16, int16)))
      .store_unaligned(bytes);
  if (f.lut)
    unroll<2 * kLanes>([&](auto j) OCTET_INLINE { dst[j] = f.lut[bytes[j]]; });
  else
    __builtin_memcpy(dst, bytes, 2 * kLanes);
}

// Loads a residual minus its zero point.
struct Residual {
  Sums zero_point;
  Batch<uint8_t> flip;
  explicit Residual(const Epilogue& f)
      : zero_point(f.residual_zero_point + (f.residual_type == ElementType::kU8 ? 0 : 128)),
        flip((uint8_t)(f.residual_type == ElementType::kU8 ? 0 : 0x80)) {}
  OCTET_INLINE inline void load(const EpilogueTile& t, size_t row, size_t column,
                                Sums (&to)[2]) const {
    static_assert(kLanes == 4, "eight bytes");
    widen_int8(repeat_eight(t.to.residual + row * t.to.residual_stride + column) ^ flip, to);
    unroll<2>([&](auto v) OCTET_INLINE { to[v] = to[v] - zero_point; });
  }
};

template <typename T>
OCTET_INLINE inline T clamped(T x, T lo, T hi) {
  return xsimd::min(xsimd::max(x, lo), hi);
}

template <bool adds>
void epilogue_floats(const Epilogue& f, const EpilogueTile& t, size_t column) {
  const Floats lo(f.lo_f32), hi(f.hi_f32), product_lo(f.product_lo_f32),
      product_hi(f.product_hi_f32), residual_scale(f.residual_scale);
  const Sums zero_point(f.zero_point);
  const Residual residual(f);
  const float* const scales = f.scale + t.column + column;
  const Floats scale[2] = {load<float>(scales), load<float>(scales + kLanes)};
  for (size_t i = 0; i < t.rows; ++i) {
    const int32_t* const acc = t.acc + i * t.acc_stride + column;
    Sums more[2], q[2];
    if (adds) residual.load(t, i, column, more);
    unroll<2>([&](auto v) OCTET_INLINE {
      const Floats by = t.row_scale ? Floats(t.row_scale[i]) * scale[v] : scale[v];
      Floats value = xsimd::to_float(load<int32_t>(acc + kLanes * v)) * by;
      if (adds) {
        if (f.clamps_product) value = clamped(value, product_lo, product_hi);
        value = value + xsimd::to_float(more[v]) * residual_scale;
      }
      // The caller has set the rounding mode to nearest even
      q[v] = xsimd::nearbyint_as_int(clamped(value, lo, hi)) + zero_point;
    });
    store_outputs(f, q, t.to.dst + i * t.to.stride + column);
  }
}

void f32_columns(const Epilogue& f, const EpilogueTile& t, size_t column) {
  const Floats lo(f.lo_f32), hi(f.hi_f32), nan(__builtin_nanf(""));
  const size_t n = t.column + column;
  const float* const bias = f.bias_f32 ? f.bias_f32 + n : kNoBias;
  for (size_t i = 0; i < t.rows; ++i) {
    const Floats row_scale(t.row_scale ? t.row_scale[i] : 1.0f);
    unroll<2>([&](auto v) OCTET_INLINE {
      const size_t first = kLanes * v;
      const Sums acc = load<int32_t>(t.acc + i * t.acc_stride + column + first);
      const Floats x = xsimd::to_float(acc) * (row_scale * load<float>(f.scale + n + first)) +
                       load<float>(bias + first);
      // Of a NaN and a bound, these return the NaN: their second operand
      const Floats y = xsimd::min(hi, xsimd::max(lo, x));
      xsimd::select(y == y, y, nan)
          .store_unaligned((float*)(t.to.dst + i * t.to.stride) + column + first);
    });
  }
}

template <bool adds>
void epilogue_tflite(const Epilogue& f, const EpilogueTile& t, size_t column) {
  constexpr int32_t kShifted = 1 << 20;  // TFLite's ADD shifts its inputs to the left by 20
  const Sums zero_point(f.zero_point), lo(f.lo - f.zero_point), hi(f.hi - f.zero_point),
      product_lo(f.product_lo), product_hi(f.product_hi);
  const Residual residual(f);
  const size_t n = t.column + column;
  const TfliteLanes columns[2] = {{f.multiplier + n, f.shift + n},
                                  {f.multiplier + n + kLanes, f.shift + n + kLanes}},
                    one = TfliteLanes::all(adds ? f.product_scale : TfliteScale{}, kShifted),
                    other = TfliteLanes::all(adds ? f.residual_tflite : TfliteScale{}, kShifted),
                    both = TfliteLanes::all(adds ? f.sum_scale : TfliteScale{}, 1);
  for (size_t i = 0; i < t.rows; ++i) {
    const int32_t* const acc = t.acc + i * t.acc_stride + column;
    Sums more[2], q[2];
    if (adds) residual.load(t, i, column, more);
    unroll<2>([&](auto v) OCTET_INLINE {
      Sums value = columns[v].scale(load<int32_t>(acc + kLanes * v));
      if (adds)
        value =
            both.scale(one.scale(clamped(value, product_lo, product_hi)) + other.scale(more[v]));
      q[v] = clamped(value, lo, hi) + zero_point;
    });
    store_outputs(f, q, t.to.dst + i * t.to.stride + column);
  }
}

void epilogue_by_vectors(const Epilogue& f, const EpilogueTile& t) {
  if (f.mode == EpilogueMode::kDouble8 || (f.mode == EpilogueMode::kTflite8 && !knows_tflite(f, t)))
    return apply_epilogue(f, t);
  const auto epilogue = f.mode == EpilogueMode::kF32 ? f32_columns
                        : f.mode == EpilogueMode::kFloat8
                            ? (f.has_residual ? epilogue_floats<true> : epilogue_floats<false>)
                            : (f.has_residual ? epilogue_tflite<true> : epilogue_tflite<false>);
  constexpr size_t width = 2 * kLanes;
  size_t column = 0;
  for (; column + width <= t.cols; column += width) epilogue(f, t, column);
  if (column == t.cols) return;
  EpilogueTile rest = t;
  rest.acc += column;
  rest.cols -= column;
  rest.column += column;
  rest.to = t.to.column(column, f.mode == EpilogueMode::kF32 ? sizeof(float) : 1);
  apply_epilogue(f, rest);
}

}  // namespace
}  // namespace octet
