// SPDX-License-Identifier: Apache-2.0
// u8 x 2:4 sparse s8 -> s32 or 8 bits, VPDPBUSD on zmm (sparse_vnni.h), for both sparse layouts.
//
// Up to 8 rows x 32 columns, places in half bytes:
//
//                      columns 0-15   16-31
//                     +-------------+--------+    16 accumulators, 2 for values, 2 for places,
//   row i, 8 bytes    | acc[i][0]   |  [1]   |    1 for lhs, 1 shuffled: 22 registers of 32
//   broadcast         +-------------+--------+
//
// A sparse product takes a dot product and a shuffle. Where 512-bit shuffles have a port of their
// own (Zen), this kernel is up to 1.5 times as fast as the dense one; where they share a port with
// dot products (Intel), it is as fast, and reads 3/4 of the bytes.
//
// Up to 4 rows x 32 columns, tight places: 8 accumulators or more (few rows have several sets), 2
// for values, 2 for places, 2 constants, 1 for lhs, 1 shuffled: 16 registers of 32. It serves few
// rows, where loading weights takes longest: it reads 5/8 of the dense bytes. Widening the places
// takes 3 instructions for 32 steps of a vector of columns, for any number of rows.
#include <immintrin.h>

#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/store_tile_zmm.h"
#include "kernels/x86/sparse/sparse_vnni.h"

namespace octet {
namespace {

struct Zmm {
  using Vector = __m512i;
  static constexpr size_t kApart = 0;
  static constexpr int kRegisters = 32;

  // With one row the hardware's prefetchers suffice.
  static constexpr int ahead(bool tight, int rows) { return tight && rows > 1 ? 3840 : 0; }

  static constexpr int sets(bool, int rows, int vectors) { return sets_of(rows, vectors); }

  OCTET_INLINE static Vector load(const uint8_t* p) { return _mm512_loadu_si512(p); }
  OCTET_INLINE static Vector zero() { return _mm512_setzero_si512(); }
  OCTET_INLINE static Vector eight(const uint8_t* bytes) {
    int64_t value;
    __builtin_memcpy(&value, bytes, sizeof value);
    return _mm512_set1_epi64(value);
  }
  OCTET_INLINE static Vector flipped(Vector a) {
    return _mm512_xor_si512(a, _mm512_set1_epi8((char)0x80));
  }
  template <int half>
  OCTET_INLINE static Vector eight_of(const uint8_t* bytes, size_t count, bool flips, bool) {
    const __m128i all = _mm_maskz_loadu_epi8((__mmask16)((1 << count) - 1), bytes);
    const Vector a = _mm512_broadcastq_epi64(half ? _mm_unpackhi_epi64(all, all) : all);
    return _mm512_xor_si512(a, _mm512_set1_epi8((char)(flips ? 0x80 : 0)));
  }
  OCTET_INLINE static Vector upper_places(Vector places) { return _mm512_srli_epi16(places, 4); }
  // (places & 0x33) | the bit that puts C and D into the second four
  OCTET_INLINE static Vector wide_places(Vector places, int turn) {
    if (turn) places = _mm512_srli_epi16(places, 2);
    return _mm512_ternarylogic_epi32(places, _mm512_set1_epi8((char)kTightPlaces),
                                     _mm512_set1_epi32((int)kTightSecondFour), 0xea);
  }
  OCTET_INLINE static Vector shuffle(Vector a, Vector places) {
    return _mm512_shuffle_epi8(a, places);
  }
  OCTET_INLINE static Vector dot(Vector acc, Vector a, Vector b) {
    return _mm512_dpbusd_epi32(acc, a, b);
  }
  OCTET_INLINE static Vector add(Vector a, Vector b) { return _mm512_add_epi32(a, b); }
};

template <bool tight, int most, int vectors>
void multiply_sparse(const Tile& t) {
  __m512i acc[most][vectors];
  start_tile(t, acc);
  SparseProduct<Zmm, tight, most, vectors>(t).add(t, acc);
  store_tile(t, acc);
}

template <bool tight, int most>
void dispatch_sparse(const Tile& t) {
  (t.cols > 16 ? multiply_sparse<tight, most, 2> : multiply_sparse<tight, most, 1>)(t);
}

template <bool tight, int most>
constexpr MicroKernel sparse_kernel(const char* name) {
  return {
      .name = name,
      .tier_id = TierId::kAvx512Vnni,
      .lhs_element_type = ElementType::kU8,
      .mr = most,
      .nr = 32,
      .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit,
      .rhs_layout = tight ? kSparseTightLayout : kSparseLayout,
      .lhs_kr = tight ? 32 : 16,
      .multiply = dispatch_sparse<tight, most>,
  };
}

}  // namespace

const MicroKernel avx512vnni_u8s8_sparse_8x32x16 =
    sparse_kernel<false, 8>("avx512vnni_u8s8_sparse_8x32x16");
const MicroKernel avx512vnni_u8s8_sparse_4x32x32 =
    sparse_kernel<true, 4>("avx512vnni_u8s8_sparse_4x32x32");

}  // namespace octet
