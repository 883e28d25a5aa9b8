// SPDX-License-Identifier: Apache-2.0
// MicroKernel::add_tap of avxvnni_u8s8_6x16x4: tiles of up to 6 rows x 16 columns, a panel.
#include <immintrin.h>

#include "kernels/x86/kernels.h"
#include "kernels/x86/taps/add_tap.h"

namespace octet {
namespace {

struct Ymm {
  using Vector = __m256i;
  static constexpr size_t kLanes = 8, kApart = 32;
  static constexpr int kTwoSets = 3;

  OCTET_INLINE static Vector load(const void* p) { return _mm256_loadu_si256((const __m256i*)p); }
  OCTET_INLINE static void store(void* p, Vector v) { _mm256_storeu_si256((__m256i*)p, v); }
  OCTET_INLINE static Vector zero() { return _mm256_setzero_si256(); }
  OCTET_INLINE static Vector repeat(int32_t quad) { return _mm256_set1_epi32(quad); }
  OCTET_INLINE static Vector flip(Vector a, Vector flips) { return _mm256_xor_si256(a, flips); }
  OCTET_INLINE static Vector add(Vector a, Vector b) { return _mm256_add_epi32(a, b); }
  OCTET_INLINE static Vector add_products(Vector sums, Vector a, Vector b) {
    return _mm256_dpbusd_avx_epi32(sums, a, b);
  }
};

// A flip by zeros costs nothing: a port is free of dot products.
template <int rows>
constexpr auto kAdd = TapTile<Ymm, rows>::template add_rows<true>;
constexpr size_t kMost = 6;
constexpr void (*kByRows[kMost])(const TapRows&, size_t) = {kAdd<1>, kAdd<2>, kAdd<3>,
                                                            kAdd<4>, kAdd<5>, kAdd<6>};

}  // namespace

void avxvnni_add_tap(const TapRows& t) {
  for (size_t first = 0, rows; first < t.count; first += rows) {
    const size_t left = t.count - first;
    rows = left == 10 ? 5 : smaller(left, kMost);  // four rows take the time of five
    kByRows[rows - 1](t, first);
  }
}

}  // namespace octet
