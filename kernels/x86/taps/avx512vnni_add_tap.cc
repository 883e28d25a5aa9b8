// SPDX-License-Identifier: Apache-2.0
// MicroKernel::add_tap of avx512vnni_u8s8_6x64x4: tiles of up to 8 rows x 32 columns, two panels:
// more rows have more addresses than registers. Tiles of few rows have sets of accumulators, so any
// count is some tiles of the heights below.
#include <immintrin.h>

#include "kernels/x86/kernels.h"
#include "kernels/x86/taps/add_tap.h"

namespace octet {
namespace {

struct Zmm {
  using Vector = __m512i;
  static constexpr size_t kLanes = 16, kApart = 0;
  static constexpr int kTwoSets = 4;

  OCTET_INLINE static Vector load(const void* p) { return _mm512_loadu_si512(p); }
  OCTET_INLINE static void store(void* p, Vector v) { _mm512_storeu_si512(p, v); }
  OCTET_INLINE static Vector zero() { return _mm512_setzero_si512(); }
  OCTET_INLINE static Vector repeat(int32_t quad) { return _mm512_set1_epi32(quad); }
  OCTET_INLINE static Vector flip(Vector a, Vector flips) { return _mm512_xor_si512(a, flips); }
  OCTET_INLINE static Vector add(Vector a, Vector b) { return _mm512_add_epi32(a, b); }
  OCTET_INLINE static Vector add_products(Vector sums, Vector a, Vector b) {
    return _mm512_dpbusd_epi32(sums, a, b);
  }
};

template <int rows, int vectors, bool flip>
constexpr auto kAdd = TapTile<Zmm, rows, vectors>::template add_rows<flip>;

// A flip takes a port from dot products.
template <bool flip>
void add_rows(const TapRows& t) {
  constexpr TapHeight kOfOne[] = {
      {8, kAdd<8, 1, flip>}, {4, kAdd<4, 1, flip>}, {2, kAdd<2, 1, flip>}, {1, kAdd<1, 1, flip>}};
  if (t.columns <= Zmm::kLanes) return add_by_heights(t, kOfOne);
  constexpr TapHeight kOfTwo[] = {{8, kAdd<8, 2, flip>}, {7, kAdd<7, 2, flip>},
                                  {6, kAdd<6, 2, flip>}, {4, kAdd<4, 2, flip>},
                                  {2, kAdd<2, 2, flip>}, {1, kAdd<1, 2, flip>}};
  add_by_heights(t, kOfTwo);
}

}  // namespace

void avx512vnni_add_tap(const TapRows& t) { t.lhs_flip ? add_rows<true>(t) : add_rows<false>(t); }

}  // namespace octet
