// SPDX-License-Identifier: Apache-2.0
// Adds two tensors by AVX512-VNNI: add_fixed of kernels/generic/functions/add.h in vectors of 64.
#include "kernels/generic/functions/add.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/vector.h"

namespace octet {
namespace {

constexpr size_t kVector = sizeof(Vector);
constexpr int32_t kMostValue = 0x3000;  // in units of the output: two of them fit int16

// The sum of two bytes as stored: (a * factor a + b * factor b + rest >> shift) + moved. The zero
// points of a and b are in the offset, whose whole units are `moved`.
struct StoredSum {
  int32_t rest, moved;
  bool fits;  // the sum without `moved` and that with it are within int16
  StoredSum(const BinaryPlan& p) {
    const int32_t shift = p.shift[2];
    const int64_t a = p.multiplier[0], b = p.multiplier[1];
    const int64_t offset = p.offset - a * p.zero[0] - b * p.zero[1];
    moved = (int32_t)(offset >> shift);
    rest = (int32_t)(offset - (int64_t)moved * ((int64_t)1 << shift));
    const int64_t largest = 255 * ((a < 0 ? -a : a) + (b < 0 ? -b : b)) >> shift;
    fits = largest < kMostValue && moved > -kMostValue && moved < kMostValue;
  }
};

// 16 bits for a and 16 for b, alternating.
Vector alternating(int16_t a, int16_t b) {
  return _mm512_set1_epi32((int32_t)((uint32_t)(uint16_t)a | (uint32_t)(uint16_t)b << 16));
}

}  // namespace

void avx512vnni_add_fixed(const BinaryPlan& p, const uint8_t* a, const uint8_t* b, uint8_t* out,
                          size_t bytes) {
  const StoredSum stored(p);
  if (!stored.fits) return add_fixed(p, a, b, out, bytes);
  const FixedFactor of_a(p.multiplier[0]), of_b(p.multiplier[1]);
  const Vector factor_high = alternating(of_a.high, of_b.high),
               factor_low = alternating(of_a.low, of_b.low), rest = _mm512_set1_epi32(stored.rest),
               shift = _mm512_set1_epi32(p.shift[2] - kFixedLow),
               moved = _mm512_set1_epi16((int16_t)(stored.moved + p.zero[2])), nothing = {};
  const Vector flip_a = _mm512_set1_epi8((char)p.flip[0]),
               flip_b = _mm512_set1_epi8((char)p.flip[1]), flip = _mm512_set1_epi8((char)p.flip[2]),
               least = _mm512_set1_epi8((char)p.least), most = _mm512_set1_epi8((char)p.most);
  const auto sum = [&](Vector pairs) __attribute__((always_inline)) {
    const Vector low = _mm512_srai_epi32(_mm512_dpwssd_epi32(rest, pairs, factor_low), kFixedLow);
    return _mm512_srav_epi32(_mm512_dpwssd_epi32(low, pairs, factor_high), shift);
  };
  const auto sums = [&](Vector x, Vector y) __attribute__((always_inline)) {
    x ^= flip_a, y ^= flip_b;
    const Vector low = _mm512_unpacklo_epi8(x, y), high = _mm512_unpackhi_epi8(x, y);
    const Vector shorts[] = {_mm512_packs_epi32(sum(_mm512_unpacklo_epi8(low, nothing)),
                                                sum(_mm512_unpackhi_epi8(low, nothing))),
                             _mm512_packs_epi32(sum(_mm512_unpacklo_epi8(high, nothing)),
                                                sum(_mm512_unpackhi_epi8(high, nothing)))};
    const Vector made =
        _mm512_packus_epi16(_mm512_add_epi16(shorts[0], moved), _mm512_add_epi16(shorts[1], moved));
    return _mm512_min_epu8(_mm512_max_epu8(made, least), most) ^ flip;
  };
  for (; bytes >= kVector; bytes -= kVector, a += kVector, b += kVector, out += kVector)
    store(out, sums(load(a), load(b)));
  const __mmask64 left = ((__mmask64)1 << bytes) - 1;
  if (left)
    _mm512_mask_storeu_epi8(
        out, left, sums(_mm512_maskz_loadu_epi8(left, a), _mm512_maskz_loadu_epi8(left, b)));
}

}  // namespace octet
