// SPDX-License-Identifier: Apache-2.0
// Loads the init of tiles into zmm registers and stores their accumulators, as s32 or requantized:
// one text for all counts of rows up to `most`. Rows that a tile lacks have any values.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/shared/by_rows.h"
#include "kernels/x86/shared/epilogue_float.h"
#include "kernels/x86/shared/requantize.h"
#include "kernels/x86/shared/store_floats.h"
#include "kernels/x86/shared/tflite.h"

namespace octet {

// As in store_tile_ymm.h. AVX2's serves AVX512BW, too.
void avx2_requantize(const Tile& t, const int32_t* acc, size_t acc_stride);
void avx512vnni_requantize(const Tile& t, const int32_t* acc, size_t acc_stride);

namespace {

template <int most, int vectors>
OCTET_INLINE inline void start_tile(const Tile& t, __m512i (&acc)[most][vectors]) {
  // Stores complete in order, so each output line that misses the cache would delay the next ones;
  // prefetched here, all arrive in time. Rows that share lines come one after the other anyway.
  if (t.dst_stride >= 64)
    for_rows<most>(t.rows, [&](auto i) OCTET_INLINE {
      const char* row = (const char*)t.dst + i * t.dst_stride;
      _mm_prefetch(row, _MM_HINT_T0);
      if (!t.scale || t.requantization->to_floats)
        unroll<vectors - 1>([&](auto v)
                                OCTET_INLINE { _mm_prefetch(row + 64 * (v + 1), _MM_HINT_T0); });
    });
  // Usually one row of init serves all rows: register copies are free, loads would delay the first
  // products.
  unroll<vectors>([&](auto v) OCTET_INLINE {
    acc[0][v] = _mm512_loadu_si512(t.init + 16 * v);
    unroll<most - 1>([&](auto i) OCTET_INLINE { acc[i + 1][v] = acc[0][v]; });
  });
  if (t.init_stride)
    for_rows<most>(t.rows, [&](auto i) OCTET_INLINE {
      unroll<vectors>([&](auto v) OCTET_INLINE {
        acc[i][v] = _mm512_loadu_si512(t.init + i * t.init_stride + 16 * v);
      });
    });
  if (t.row_init)
    for_rows<most>(t.rows, [&](auto i) OCTET_INLINE {
      const __m512i more = _mm512_set1_epi32(t.row_init[i]);
      unroll<vectors>([&](auto v) OCTET_INLINE { acc[i][v] = _mm512_add_epi32(acc[i][v], more); });
    });
}

// Stores s32, or requantizes through the stack by a function above.
template <auto requantize, int most, int vectors>
OCTET_INLINE inline void store_through_memory(const Tile& t, const __m512i (&acc)[most][vectors]) {
  alignas(64) int32_t sums[most][16 * vectors];
  const size_t stride = t.scale ? sizeof sums[0] : t.dst_stride;
  const __mmask16 last = (__mmask16)(t.scale ? 0xffffu : 0xffffu >> (16 * vectors - t.cols));
  uint8_t* dst = t.scale ? (uint8_t*)sums : (uint8_t*)t.dst;
  for_rows<most>(t.rows, [&](auto i) OCTET_INLINE {
    unroll<vectors>([&](auto v) OCTET_INLINE {
      if (v == vectors - 1)
        _mm512_mask_storeu_epi32(dst + 64 * v, last, acc[i][v]);
      else
        _mm512_storeu_si512(dst + 64 * v, acc[i][v]);
    });
    dst += stride;
  });
  if (t.scale) requantize(t, sums[0], 16 * vectors);
}

// Stores the bytes of one row, which are a quarter, a half or all of a register.
template <int vectors, int part>
OCTET_INLINE inline void store_part(uint8_t* dst, __mmask64 mask, __m512i bytes) {
  if constexpr (vectors == 1)
    _mm_mask_storeu_epi8(dst, (__mmask16)mask, _mm512_extracti32x4_epi32(bytes, part));
  else if constexpr (vectors == 2)
    _mm256_mask_storeu_epi8(dst, (__mmask32)mask, _mm512_extracti64x4_epi64(bytes, part));
  else
    _mm512_mask_storeu_epi8(dst, mask, bytes);
}

// Stores scaled accumulators as bytes. Four vectors of 32 bits, of one, two or four rows, make one
// of bytes.
template <int most, int vectors>
OCTET_INLINE inline void store_bytes(const Tile& t, const __m512i (&acc)[most][vectors]) {
  const Requantizer<64> requantizer(*t.requantization);
  constexpr int width = vectors == 3 ? 4 : vectors, together = 4 / width;
  const __mmask64 mask = ~(__mmask64)0 >> (64 - t.cols);
  const size_t stride = t.dst_stride, rows = t.rows;
  uint8_t* dst = (uint8_t*)t.dst;
  unroll<(most + together - 1) / together>([&](auto group) OCTET_INLINE {
    constexpr size_t first = group.value * together;
    if (first && first >= rows) return;
    __m512i q[4];
    unroll<4>([&](auto at) OCTET_INLINE {
      constexpr int i = first + at.value / width, v = at.value % width;
      if constexpr (i < most && v < vectors)
        q[at] = acc[i][v];
      else
        q[at] = _mm512_setzero_si512();
    });
    const __m512i bytes =
        in_order(requantizer.bytes(pack_int16(q[0], q[1]), pack_int16(q[2], q[3])));
    unroll<together>([&](auto part) OCTET_INLINE {
      if constexpr (first + part.value < most)
        if (part == 0 || first + part.value < rows)
          store_part<vectors, part.value>(dst, mask, bytes);
      dst += stride;
    });
  });
}

// full: tiles lack few rows, and branches would cost more than to scale these.
template <bool full, int most, int vectors>
OCTET_INLINE inline void scale_float(const Tile& t, __m512i (&acc)[most][vectors]) {
  __m512 scale[vectors];
  unroll<vectors>([&](auto v) OCTET_INLINE { scale[v] = _mm512_loadu_ps(t.scale + 16 * v); });
  const auto scale_row = [&](auto i) OCTET_INLINE {
    unroll<vectors>([&](auto v) OCTET_INLINE { acc[i][v] = scaled(acc[i][v], scale[v]); });
  };
  if constexpr (full)
    unroll<most>(scale_row);
  else
    for_rows<most>(t.rows, scale_row);
}
// The scales of one vector of columns at a time fit in registers beside all sums.
template <typename Scaler, int most, int vectors>
OCTET_INLINE inline void scale_tflite(const Tile& t, __m512i (&acc)[most][vectors]) {
  unroll<vectors>([&](auto v) OCTET_INLINE {
    Scaler scaler;
    scaler.load((const int32_t*)t.scale + 16 * v, t.requantization->tflite_apart);
    for_rows<most>(t.rows, [&](auto i) OCTET_INLINE {
      acc[i][v] = scaler.scale(acc[i][v]);
      pin(acc[i][v]);  // else compilers start all rows at once and spill
    });
  });
}

// Scales accumulators in float mode, adds their residual and stores bytes.
template <int most, int vectors>
OCTET_INLINE inline void store_with_residual(const Tile& t, const __m512i (&acc)[most][vectors]) {
  constexpr int together = 4 / vectors;
  const Requantizer<64> requantizer(*t.requantization);
  const FloatAddend<64> addend(*t.adds);
  const __mmask64 mask = ~(__mmask64)0 >> (64 - t.cols);
  const size_t stride = t.dst_stride, rows = t.rows, cols = t.cols;
  const ptrdiff_t residual = t.residual;
  uint8_t* dst = (uint8_t*)t.dst;
  __m512 scale[vectors];
  unroll<vectors>([&](auto v) OCTET_INLINE { scale[v] = _mm512_loadu_ps(t.scale + 16 * v); });
  unroll<most / together>([&](auto group) OCTET_INLINE {
    constexpr size_t first = group.value * together;
    if (first && first >= rows) return;
    __m512 product[4];
    unroll<4>([&](auto at) OCTET_INLINE {
      constexpr int v = at.value % vectors;
      product[at] = to_floats(acc[first + at.value / vectors][v]) * scale[v];
    });
    __m512i q[4];
    addend.add<false>(
        as_packed(load_rows<16 * vectors>(dst + residual, stride, rows - first, cols)), product, q);
    const __m512i bytes =
        in_order(requantizer.bytes(pack_int16(q[0], q[1]), pack_int16(q[2], q[3])));
    unroll<together>([&](auto part) OCTET_INLINE {
      if (part == 0 || first + part.value < rows) store_part<vectors, part.value>(dst, mask, bytes);
      dst += stride;
    });
  });
}

// requantize: a function above, which no tile needs here; without the call GCC 12 copies 176
// instead of 72 registers in the depth loops of avx512vnni_u8s8_6x64x4. few: tiles of `most` rows
// may have one row, too.
template <auto requantize = avx512vnni_requantize, bool few = false, bool adds = false, int most,
          int vectors>
OCTET_INLINE inline void store_tile(const Tile& t, __m512i (&acc)[most][vectors]) {
  if (t.scale && t.requantization->to_floats) return store_floats(t, t.rows, acc);
  if constexpr (adds && most * vectors == 24)
    if (t.scale && t.adds) return store_with_residual(t, acc);
  const bool tflite = t.scale && t.requantization->tflite_apart;
  const TfliteForm form = tflite ? t.requantization->tflite_form : TfliteForm::kAll;
  if (!t.scale || (adds && t.adds) || (tflite && form == TfliteForm::kAll))
    return store_through_memory<requantize>(t, acc);
  if (!tflite)
    scale_float<(most > 8 && !few)>(t, acc);
  else if (form == TfliteForm::kFloatsUp)
    scale_tflite<TfliteFloatScaler<false>>(t, acc);
  else
    scale_tflite<TfliteFormScaler>(t, acc);
  store_bytes(t, acc);
}

}  // namespace
}  // namespace octet
