// TFLite mode's exit from a tile of accumulators in memory: a kernel's own, just written and still
// on its way there, or the epilogue's. One function for all heights of a tile, and not inlined, so
// that float mode's exits have the registers to themselves.
#pragma once

#include "kernels/x86/exits_ymm.h"
#include "kernels/x86/tflite.h"

namespace octet {
namespace {

#ifdef __AVX512BW__
constexpr int kExitBytes = 64;
#else
constexpr int kExitBytes = 32;
#endif
constexpr size_t kExitLanes = kExitBytes / 4;
using ExitVector = VectorOf<kExitBytes>::Type;

// Of four vectors' bytes, in order, those of row `part`: of one vector or of two.
#ifdef __AVX512BW__
template <int vectors, int part>
OCTET_INLINE inline void store_row(uint8_t* dst, ExitVector bytes, size_t count) {
  if constexpr (vectors == 1)
    _mm_mask_storeu_epi8(dst, (__mmask16)(0xffffu >> (16 - count)),
                         _mm512_extracti32x4_epi32(bytes, part));
  else
    _mm256_mask_storeu_epi8(dst, 0xffffffffu >> (32 - count),
                            _mm512_extracti64x4_epi64(bytes, part));
}
#else
OCTET_INLINE inline __m256i in_order(__m256i bytes) {
  return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
template <int vectors, int part>
OCTET_INLINE inline void store_row(uint8_t* dst, ExitVector bytes, size_t count) {
  const __m128i half = _mm256_extracti128_si256(bytes, vectors * part / 2);
  store_bytes(dst, vectors * part % 2 ? _mm_srli_si128(half, 8) : half, count);
}
#endif

// The first `count` columns, of one vector or of two.
template <int vectors, bool signs>
OCTET_INLINE inline void exit_columns(const Tile& t, const int32_t* acc, size_t acc_stride,
                                      const int32_t* scales, uint8_t* dst, size_t count) {
  using Scaler = TfliteScaler<kExitBytes>;
  constexpr size_t together = 4 / vectors;  // rows
  const Narrower<kExitBytes> narrower(*t.narrow);
  Scaler scaler[vectors];
  unroll<vectors>([&](auto v) OCTET_INLINE {
    scaler[v].load(scales + v * kExitLanes, t.narrow->tflite_apart);
  });
  for (size_t rows = t.rows;;) {
    ExitVector q[4];
    unroll<4>([&](auto at) OCTET_INLINE {
      constexpr int v = at.value % vectors;
      constexpr size_t row = at.value / vectors;
      const int32_t* const from = acc + (row < rows ? row * acc_stride : 0);
      q[at] = scaler[v].template scale<signs>(Scaler::at(from + v * kExitLanes));
    });
    const ExitVector bytes =
        in_order(narrower.bytes(pack_words(q[0], q[1]), pack_words(q[2], q[3])));
    unroll<(int)together>([&](auto part) OCTET_INLINE {
      if (part < rows) store_row<vectors, part.value>(dst + part * t.dst_stride, bytes, count);
    });
    if (rows <= together) return;
    rows -= together;
    acc += together * acc_stride;
    dst += together * t.dst_stride;
  }
}

template <bool signs>
__attribute__((noinline)) void exit_tile(const Tile& t, const int32_t* acc, size_t acc_stride) {
  const int32_t* scales = (const int32_t*)t.scale;
  uint8_t* dst = (uint8_t*)t.dst;
  size_t cols = t.cols;
  for (; cols > kExitLanes; cols -= 2 * kExitLanes) {
    exit_columns<2, signs>(t, acc, acc_stride, scales, dst,
                           cols < 2 * kExitLanes ? cols : 2 * kExitLanes);
    if (cols <= 2 * kExitLanes) return;
    acc += 2 * kExitLanes;
    scales += 2 * kExitLanes;
    dst += 2 * kExitLanes;
  }
  exit_columns<1, signs>(t, acc, acc_stride, scales, dst, cols);
}

// acc: readable up to the tile's cols rounded up to kExitLanes.
void tflite_exit(const Tile& t, const int32_t* acc, size_t acc_stride) {
  (t.narrow->lo < t.narrow->zero_point ? exit_tile<true> : exit_tile<false>)(t, acc, acc_stride);
}

}  // namespace
}  // namespace octet
