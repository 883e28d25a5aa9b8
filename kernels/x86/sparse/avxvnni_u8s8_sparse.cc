// SPDX-License-Identifier: Apache-2.0
// u8 x 2:4 sparse s8 -> s32 or 8 bits, VPDPBUSD on ymm (sparse_vnni.h), up to 4 rows x 16 columns,
// for both sparse layouts.
//
//                      columns 0-7   8-15
//                     +------------+--------+     8 accumulators, 2 for values, 2 for places,
//   row i, 8 bytes    | acc[i][0]  |  [1]   |     1 for lhs, 1 shuffled: 14 registers of 16;
//   broadcast         +------------+--------+     tight places take 2 more to widen them
#include <immintrin.h>

#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/store_tile_ymm.h"
#include "kernels/x86/shared/tail.h"
#include "kernels/x86/sparse/sparse_vnni.h"

namespace octet {
namespace {

// Shuffle indices: those from kLast + 16 - count on move the last `count` of sixteen bytes to the
// front, followed by 0.
constexpr uint8_t kLast[] = {0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,
                             11,   12,   13,   14,   15,   0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                             0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};

struct Ymm {
  using Vector = __m256i;
  static constexpr size_t kApart = 32;
  static constexpr int kRegisters = 16;

  // See avxvnni_u8s8_6x16x4.cc
  static constexpr int ahead(bool tight, int) { return tight ? 3840 : 1536; }
  // 12 accumulators do not fit beside the constants of tight places
  static constexpr int sets(bool tight, int rows, int vectors) {
    return tight && rows == 3 ? 1 : sets_of(rows, vectors);
  }

  OCTET_INLINE static Vector load(const uint8_t* p) {
    return _mm256_loadu_si256((const __m256i*)p);
  }
  OCTET_INLINE static Vector zero() { return _mm256_setzero_si256(); }
  OCTET_INLINE static Vector eight(const uint8_t* bytes) {
    return _mm256_set1_epi64x((int64_t)octet::load<uint64_t>(bytes));
  }
  OCTET_INLINE static Vector flipped(Vector a) {
    return _mm256_xor_si256(a, _mm256_set1_epi8((char)0x80));
  }
  // follows: bytes of the same row lie before these
  template <int half>
  OCTET_INLINE static Vector eight_of(const uint8_t* bytes, size_t count, bool flips,
                                      bool follows) {
    if (follows) {
      const __m128i last = _mm_loadu_si128((const __m128i*)(bytes + count - 16));
      const uint8_t* const from = kLast + 16 - count + 8 * half;
      const Vector a = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(last), eight(from));
      return flips ? flipped(a) : a;
    }
    const __m128i all = tail(bytes, count, flips ? 0x8080808080808080u : 0);
    return _mm256_broadcastq_epi64(half ? _mm_unpackhi_epi64(all, all) : all);
  }
  OCTET_INLINE static Vector upper_places(Vector places) { return _mm256_srli_epi16(places, 4); }
  OCTET_INLINE static Vector wide_places(Vector places, int turn) {
    if (turn) places = _mm256_srli_epi16(places, 2);
    return _mm256_or_si256(_mm256_and_si256(places, _mm256_set1_epi8((char)kTightPlaces)),
                           _mm256_set1_epi32((int)kTightSecondFour));
  }
  OCTET_INLINE static Vector shuffle(Vector a, Vector places) {
    return _mm256_shuffle_epi8(a, places);
  }
  OCTET_INLINE static Vector dot(Vector acc, Vector a, Vector b) {
    return _mm256_dpbusd_avx_epi32(acc, a, b);
  }
  OCTET_INLINE static Vector add(Vector a, Vector b) { return _mm256_add_epi32(a, b); }
};

template <bool tight>
void multiply_sparse(const Tile& t) {
  __m256i acc[4][2];
  unroll<2>([&](auto v) OCTET_INLINE {
    acc[0][v] = init_of(t, 0, v);
    unroll<3>([&](auto i) OCTET_INLINE { acc[i + 1][v] = acc[0][v]; });
  });
  for_rows<4>(t.rows, [&](auto i) OCTET_INLINE {
    // See avx512vnni_u8s8_6x64x4.cc
    _mm_prefetch((const char*)t.dst + i * t.dst_stride, _MM_HINT_T0);
    const __m256i more = _mm256_set1_epi32(t.row_init ? t.row_init[i] : 0);
    unroll<2>([&](auto v) OCTET_INLINE { acc[i][v] = _mm256_add_epi32(init_of(t, i, v), more); });
  });
  SparseProduct<Ymm, tight, 4, 2>(t).add(t, acc);
  if (!t.scale) return store_sums(acc, t.rows, (uint8_t*)t.dst, t.dst_stride, t.cols);
  avx2_requantize4(t, acc[0][0], acc[0][1], acc[1][0], acc[1][1], acc[2][0], acc[2][1], acc[3][0],
                   acc[3][1]);
}

template <bool tight>
constexpr MicroKernel sparse_kernel(const char* name) {
  return {
      .name = name,
      .tier_id = TierId::kAvxVnni,
      .lhs_element_type = ElementType::kU8,
      .mr = 4,
      .nr = 16,
      .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit,
      .rhs_layout = tight ? kSparseTightLayout : kSparseLayout,
      .lhs_kr = tight ? 32 : 16,
      .multiply = multiply_sparse<tight>,
  };
}

}  // namespace

const MicroKernel avxvnni_u8s8_sparse_4x16x16 = sparse_kernel<false>("avxvnni_u8s8_sparse_4x16x16");
const MicroKernel avxvnni_u8s8_sparse_4x16x32 = sparse_kernel<true>("avxvnni_u8s8_sparse_4x16x32");

}  // namespace octet
