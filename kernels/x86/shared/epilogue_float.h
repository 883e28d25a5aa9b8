// SPDX-License-Identifier: Apache-2.0
// Requantizes a tile of accumulators in memory and adds a residual.
#pragma once

#include "kernels/core/epilogue.h"
#include "kernels/x86/shared/requantize_tile.h"
#include "kernels/x86/shared/tflite_add.h"

namespace octet {
namespace {

// 2^23: a byte in the lowest bits of its representation makes the float 2^23 + byte.
constexpr float kByteBase = 8388608.0f;
constexpr uint32_t kByteBaseBits = 0x4b000000;

template <typename Vector>
OCTET_INLINE inline Vector splat_float(float value) {
  int32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return splat<Vector>(bits);
}

// Makes floats of a residual's bytes, which lie as packs of four vectors leave them: vector v of
// the four, as 2^23 + byte.
template <int kInt8>
struct ByteFloats {
  template <int v>
  OCTET_INLINE inline __m256 of(__m256i bytes) const {
    const __m256i zero = splat<__m256i>(0), base = splat<__m256i>((uint16_t)(kByteBaseBits >> 16)),
                  half = v < 2 ? low_bytes(bytes, zero) : high_bytes(bytes, zero);
    return as_floats(v % 2 ? high_int16(half, base) : low_int16(half, base));
  }
};
#ifdef __AVX512BW__
template <>
struct ByteFloats<64> {
  __m512i base = splat<__m512i>(kByteBaseBits), places[4];
  __mmask64 lowest = 0x1111111111111111;  // bytes
  ByteFloats() {
    unroll<4>([&](auto v) OCTET_INLINE {
      constexpr int four = 0x03020100 + 0x04040404 * v.value;
      places[v] = _mm512_broadcast_i32x4(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(four)));
    });
    __asm__("" : "+k"(lowest));  // else GCC makes it anew for each vector
  }
  template <int v>
  OCTET_INLINE inline __m512 of(__m512i bytes) const {
    return as_floats(_mm512_mask_shuffle_epi8(base, lowest, bytes, places[v]));
  }
};
#endif

// The steps from four vectors of products and their residual to sums.
template <int kInt8>
struct FloatAddend {
  using Vector = typename VectorOf<kInt8>::Type;
  using Floats = decltype(as_floats(Vector()));
  const ByteFloats<kInt8> floats = {};
  Vector flip;
  Floats scale, zero, product_lo, product_hi, most;
  bool limits;
  OCTET_INLINE static inline Floats all_of(float x) { return as_floats(splat_float<Vector>(x)); }
  explicit FloatAddend(const Epilogue& f)
      : flip(splat<Vector>((uint8_t)(f.residual_type == ElementType::kU8 ? 0 : 0x80))),
        scale(all_of(f.residual_scale)),
        zero(all_of(kByteBase + (float)(f.residual_zero_point +
                                        (f.residual_type == ElementType::kU8 ? 0 : 128)))),
        product_lo(all_of(f.clamps_product ? f.product_lo_f32 : -__builtin_inff())),
        product_hi(all_of(f.clamps_product ? f.product_hi_f32 : __builtin_inff())),
        // A conversion that overflows is negative
        most(all_of(f.fits_int32 ? __builtin_inff() : 32767.0f)),
        limits(f.clamps_product || !f.fits_int32) {}

  // residual: its bytes in the order in which packs leave the sums'. any: whether `limits` may be.
  template <bool any = true>
  OCTET_INLINE inline void add(Vector residual, const Floats (&product)[4],
                               Vector (&sum)[4]) const {
    residual = residual ^ flip;
    Floats r[4];
    unroll<4>([&](auto v)
                  OCTET_INLINE { r[v] = (floats.template of<v.value>(residual) - zero) * scale; });
    if (any && limits)
      unroll<4>([&](auto v) OCTET_INLINE {
        r[v] = least_of(least_of(most_of(product[v], product_lo), product_hi) + r[v], most);
      });
    else
      unroll<4>([&](auto v) OCTET_INLINE { r[v] = product[v] + r[v]; });
    unroll<4>([&](auto v) OCTET_INLINE { sum[v] = rounded(r[v]); });
  }
};

// Does one, two or four vectors of columns, as in kernels/x86/shared/requantize_tile.h. A function
// each, so that its loop has its constants in registers.
template <int vectors>
__attribute__((noinline)) void epilogue_float_rows(const Epilogue& f, const EpilogueTile& t,
                                                   size_t column, size_t count) {
  constexpr int width = vectors * (int)kEpilogueLanes;
  constexpr size_t together = 4 / vectors;
  const Requantizer<kEpilogueBytes> requantizer(
      Requantization{f.zero_point, f.lo, f.hi, f.dst_type});
  const FloatAddend<kEpilogueBytes> addend(f);
  EpilogueFloats scale[vectors];
  unroll<vectors>([&](auto v) OCTET_INLINE {
    scale[v] = as_floats(epilogue_vector(f.scale + t.column + column + v * kEpilogueLanes));
  });
  const int32_t* acc = t.acc + column;
  const uint8_t* residual = t.to.residual + column;
  uint8_t* dst = t.to.dst + column;
  const size_t acc_stride = t.acc_stride, stride = t.to.stride, apart = t.to.residual_stride;
  // Rows without gaps are one run of bytes
  const bool dense = together > 1 && count == width && stride == width && apart == width;
  for (size_t rows = t.rows;;) {
    EpilogueFloats product[4];
    unroll<4>([&](auto at) OCTET_INLINE {
      constexpr int v = at.value % vectors;
      constexpr size_t row = at.value / vectors;
      const int32_t* const from = acc + (row < rows ? row * acc_stride : 0) + v * kEpilogueLanes;
      product[at] = to_floats(epilogue_vector(from)) * scale[v];
    });
    EpilogueVector q[4];
    const bool run = dense && rows >= together;
    addend.add(
        as_packed(run ? epilogue_vector(residual) : load_rows<width>(residual, apart, rows, count)),
        product, q);
    const EpilogueVector bytes =
        in_order(requantizer.bytes(pack_int16(q[0], q[1]), pack_int16(q[2], q[3])));
    if (run)
      __builtin_memcpy(dst, &bytes, sizeof bytes);
    else
      store_rows<width>(dst, stride, bytes, rows, count);
    if (rows <= together) return;
    rows -= together;
    acc += together * acc_stride;
    residual += together * apart;
    dst += together * stride;
  }
}

// Requantizes a tile and adds its residual: in float mode, or in TFLite mode with a TfliteAdd.
inline void add_residual(const Epilogue& f, const EpilogueTile& t) {
  if (f.mode == EpilogueMode::kTflite8) {
    const Requantization product = product_of(f);
    const StoredTile tile = {t.rows,   t.cols,   t.acc,      t.acc_stride, f.tflite.rows + t.column,
                             &product, t.to.dst, t.to.stride};
    return with_product_scaler(f, [&](auto scaler) OCTET_INLINE {
      store_vectors<decltype(scaler)>(tile, Added<ShortSum>(f, t.to));
    });
  }
  constexpr size_t lanes = kEpilogueLanes;
  size_t column = 0;
  const auto most = [&](size_t count)
                        OCTET_INLINE { return t.cols - column < count ? t.cols - column : count; };
  // A fourth vector must not be read
  for (; column + 3 * lanes < t.cols; column += 4 * lanes)
    epilogue_float_rows<4>(f, t, column, most(4 * lanes));
  if (column + lanes < t.cols) {
    epilogue_float_rows<2>(f, t, column, most(2 * lanes));
    column += 2 * lanes;
  }
  if (column < t.cols) epilogue_float_rows<1>(f, t, column, most(lanes));
}

}  // namespace
}  // namespace octet
