// SPDX-License-Identifier: Apache-2.0
// The epilogue of the AVX-512 tiers in vectors, and the requantization of tiles in memory. Both are
// intrinsics in loops over rows and columns: compilers need not speed them up.
#include "kernels/x86/shared/epilogue.h"

#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/store_tile_zmm.h"

namespace octet {

// GCC clears the upper halves of vector registers at the end of a function, but not where it
// optimizes for size. Left in use, they make the caller's SSE code up to twice as slow.
bool avx512vnni_epilogue(const Epilogue& f, const EpilogueTile& t) {
  const bool done = epilogue_by_vectors<avx512vnni_add_residual>(f, t);
  _mm256_zeroupper();
  return done;
}

void avx512vnni_look_up(const uint8_t* lut, uint8_t* dst, size_t stride, size_t rows, size_t cols) {
  look_up_tile(TableRows{lut + 256}, dst, stride, rows, cols);
  _mm256_zeroupper();
}

void avx512vnni_requantize(const Tile& t, const int32_t* acc, size_t acc_stride) {
  requantize_tile<avx512vnni_add_residual>(t, acc, acc_stride);
  _mm256_zeroupper();
}

}  // namespace octet
