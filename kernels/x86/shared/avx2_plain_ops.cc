// SPDX-License-Identifier: Apache-2.0
// Compiles the plain loops for AVX2: zmm registers make them no faster. The most frequent exits of
// s16 values have intrinsics, because GCC 12 puts shuffles around each upper half of a product.
#include <immintrin.h>

#include "kernels/x86/shared/avx2_plain_ops.h"

#include "kernels/generic/accumulator_init.h"
#include "kernels/generic/epilogue.h"
#include "kernels/generic/lhs_rows.h"
#include "kernels/generic/s16.h"
#include "kernels/generic/tflite_add.h"
#include "kernels/x86/shared/requantize.h"
#include "kernels/x86/shared/row_sums.h"

namespace octet {
namespace {

// The outputs of sixteen columns from `at` on.
OCTET_INLINE inline __m256i s16_of(const S16Tile& t, const float* scale, size_t at, size_t j,
                                   bool tflite) {
  __m256i q[2];
  unroll<2>([&](auto v) OCTET_INLINE {
    const auto load = [](const void* from)
                          OCTET_INLINE { return _mm256_loadu_si256((const __m256i*)from); };
    __m256i acc = add(load(t.low + at + 8 * v), load(t.offset.in_int32 + j + 8 * v));
    if (t.high) acc = add(acc, _mm256_slli_epi32(load(t.high + at + 8 * v), 8));
    const __m256i by = load(scale + j + 8 * v);
    q[v] = tflite ? high_halves(acc, by) : scaled(acc, _mm256_castsi256_ps(by));
  });
  return _mm256_permute4x64_epi64(pack_int16(q[0], q[1]), 0xd8);
}

// Finishes sums on ymm registers as kernels would do in registers (S16Epilogue::in_kernel).
void finish_in_int32(const S16Epilogue& f, const S16Tile& tile) {
  const S16Tile t = tile;  // stores may alias it
  const float* const scale = f.in_kernel + t.column;
  const bool tflite = f.mode == S16Mode::kTflite;
  const __m256i lo = splat<__m256i>((int16_t)f.lo), hi = splat<__m256i>((int16_t)f.hi);
  for (size_t i = 0; i < t.rows; ++i) {
    uint8_t* dst = t.dst + i * t.dst_stride;
    for (size_t j = 0; j < t.cols; j += kS16Columns, dst += sizeof(__m256i)) {
      const __m256i s16 =
          min_s16(max_s16(s16_of(t, scale, i * t.sums_stride + j, j, tflite), lo), hi);
      const size_t left = t.cols - j;
      if (left >= kS16Columns)
        _mm256_storeu_si256((__m256i*)dst, s16);
      else
        __builtin_memcpy(dst, &s16, left * sizeof(int16_t));
    }
  }
}

}  // namespace

void avx2_init(const Init& t) { init_tile(t); }
void avx2_apply_epilogue(const Epilogue& f, const EpilogueTile& t) { apply_epilogue(f, t); }
void avx2_sum_rows(const Rows& r, bool is_signed, int32_t* sums) {
  sum_rows_x86(r, is_signed, sums);
}
void avx2_copy_windows(const Windows& w) { copy_windows(w); }
bool avx2_find_tflite_add(const Epilogue& f, TfliteAdd* sum) {
  return find_tflite_add(f, false, sum);
}
void avx2_split_s16(const S16Row& row) { split_s16(row); }
// Not on all of its paths does GCC clear the upper halves, which slow SSE code after it.
void avx2_finish_s16(const S16Epilogue& f, const S16Tile& tile) {
  if (f.in_kernel && tile.offset.in_int32)
    finish_in_int32(f, tile);
  else
    finish_s16(f, tile);
  _mm256_zeroupper();
}

}  // namespace octet
