// SPDX-License-Identifier: Apache-2.0
// The requantizations that AVX2's and AVX-VNNI's kernels of 16 columns share.
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/epilogue_float.h"
#include "kernels/x86/shared/store_tile_ymm.h"

namespace octet {

void avx2_add_residual(const Epilogue& f, const EpilogueTile& t) {
  add_residual(f, t);
  _mm256_zeroupper();
}

void avx2_requantize4(const Tile& t, __m256i a, __m256i b, __m256i c, __m256i d, __m256i e,
                      __m256i f, __m256i g, __m256i h) {
  __m256i acc[4][2] = {{a, b}, {c, d}, {e, f}, {g, h}};
  requantize(t, t.rows, acc);
  // GCC leaves this to the callers of functions that take ymm registers
  _mm256_zeroupper();
}

void avx2_requantize6(const Tile& t, __m256i a, __m256i b, __m256i c, __m256i d, __m256i e,
                      __m256i f, __m256i g, __m256i h, __m256i i, __m256i j, __m256i k, __m256i l) {
  __m256i acc[6][2] = {{a, b}, {c, d}, {e, f}, {g, h}, {i, j}, {k, l}};
  requantize(t, t.rows, acc);
  _mm256_zeroupper();
}

}  // namespace octet
