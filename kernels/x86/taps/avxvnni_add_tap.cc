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

template <int rows, int vectors, bool flip>
constexpr auto kAdd = TapTile<Ymm, rows, vectors>::template add_rows<flip>;

// A flip by zeros costs nothing where each row meets two vectors: a port is free of dot products.
void add_panels(const TapRows& t) {
  constexpr size_t kMost = 6;
  constexpr void (*kByRows[kMost])(const TapRows&, size_t) = {kAdd<1, 2, true>, kAdd<2, 2, true>,
                                                              kAdd<3, 2, true>, kAdd<4, 2, true>,
                                                              kAdd<5, 2, true>, kAdd<6, 2, true>};
  for (size_t first = 0, rows; first < t.count; first += rows) {
    const size_t left = t.count - first;
    rows = left == 10 ? 5 : smaller(left, kMost);  // four rows take the time of five
    kByRows[rows - 1](t, first);
  }
}

template <bool flip>
void add_halves(const TapRows& t) {
  constexpr TapHeight kHeights[] = {
      {6, kAdd<6, 1, flip>}, {4, kAdd<4, 1, flip>}, {2, kAdd<2, 1, flip>}, {1, kAdd<1, 1, flip>}};
  add_by_heights(t, kHeights);
}

}  // namespace

void avxvnni_add_tap(const TapRows& t) {
  if (t.columns > Ymm::kLanes) return add_panels(t);
  t.lhs_flip ? add_halves<true>(t) : add_halves<false>(t);
}

}  // namespace octet
