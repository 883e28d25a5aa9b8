// SPDX-License-Identifier: Apache-2.0
// Grouped convolution, u8 x s8 -> s32 or 8 bits, VPDPBUSD on zmm.
//
//       broadcast pixel         weights of a tap (groups of 4: members 0-3 of the groups g)
//   | g0 g1 g2 g3 | g0 .. | .. | .. |   x   | member 0 of g0 g1 g2 g3 | member 1 .. | .. | .. |
//
// Four pixels are stored together: packs, a transposition of their 128-bit lanes, and a shuffle of
// each lane's bytes into the order of channels.
#include <immintrin.h>

#include "kernels/generic/grouped.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/grouped_order.h"
#include "kernels/x86/shared/tflite_dw.h"

namespace octet {
namespace {

struct Machine : DottedOrder {
  using Vector = __m512i;
  using Pixel = __m512i;
  using Raw = __m512i;
  static constexpr int kChannels = 64, kInputBytes = 1, kStore = 4;
  static constexpr bool kPacksSwap = false, kFloats = true;
  template <int quads>
  static constexpr int kVectors = quads;
  template <int quads>
  static constexpr int kAccs = quads == 1 ? 1 : 2;

  // Seven pixels, because 7 divides the line lengths of most networks
  template <int>
  static constexpr int kWide = 7;
  template <int>
  static constexpr int kTail = 4;
  template <int>
  static constexpr bool kEven = false;
  template <int quads>
  static constexpr bool kTwice = quads != 2;

  Requantizer<64> requantizer;
  explicit Machine(const DepthwiseTile& t)
      : requantizer(t.requantization ? *t.requantization : Requantization{}) {}

  OCTET_INLINE static inline Vector at(const uint8_t* vectors, int v) {
    return _mm512_load_si512(vectors + 64 * v);
  }
  template <int quads>
  OCTET_INLINE static inline Vector load(const uint8_t* p, int part) {
    if (quads < 4) return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i*)p));
    return _mm512_set1_epi64(half_of(p, part));
  }
  template <int quads, typename Index>
  OCTET_INLINE static inline Vector dot(Vector acc, Vector pixel, Vector weights, Index) {
    return _mm512_dpbusd_epi32(acc, pixel, weights);
  }
  OCTET_INLINE static inline Vector plus(Vector a, Vector b) { return _mm512_add_epi32(a, b); }
  OCTET_INLINE static inline Vector plus_pixels(Vector sums, const uint8_t* pixels) {
    return _mm512_dpbusd_epi32(sums, _mm512_loadu_si512(pixels), _mm512_set1_epi8(1));
  }
  OCTET_INLINE static inline void store_sums(Vector s, size_t quads, uint8_t* to) {
    if (quads > 1) s = plus(s, _mm512_shuffle_epi32(s, _MM_PERM_CDAB));
    if (quads > 2) s = plus(s, _mm512_shuffle_epi32(s, _MM_PERM_BADC));
    const Vector low = _mm512_and_si512(s, _mm512_set1_epi32(127));
    _mm512_store_si512(to, _mm512_mask_blend_epi16(0xaaaaaaaa, low, _mm512_slli_epi32(s, 9)));
  }
  template <int accs>
  OCTET_INLINE static inline void add_offsets(Vector (&acc)[accs], const uint8_t* sums,
                                              const uint8_t* offsets) {
    const Vector s = _mm512_broadcast_i32x4(_mm_load_si128((const __m128i*)sums));
    unroll<accs>([&](auto a)
                     OCTET_INLINE { acc[a] = _mm512_dpwssd_epi32(acc[a], s, at(offsets, a)); });
  }
  template <int quads, int accs>
  OCTET_INLINE static inline Raw sum(const Vector (&acc)[accs]) {
    if constexpr (accs == 1) return acc[0];
    if constexpr (accs == 2) return add_neighbours(acc[0], acc[1]);
  }

  // The shuffle from the packed raw order of a pixel's sums to the order of channels.
  static inline __m512i channel_order(size_t quads) {
    return _mm512_broadcast_i32x4(channel_order_of<Machine>(quads));
  }
  OCTET_INLINE static inline __m512i to_channels(__m512i bytes, __m512i order) {
    return _mm512_shuffle_epi8(in_order(bytes), order);
  }
  // Stores the given channels of up to four pixels.
  OCTET_INLINE static inline void store_pixels(__m512i bytes, uint8_t* dst, size_t dst_pixel,
                                               size_t count, size_t channels) {
    if (__builtin_expect(channels >= kGroupedBlock, 1)) {
      unroll<4>([&](auto i) OCTET_INLINE {
        if ((size_t)i < count)
          _mm_storeu_si128((__m128i*)(dst + i * dst_pixel),
                           _mm512_extracti32x4_epi32(bytes, (int)i));
      });
      return;
    }
    const __mmask16 mask = (__mmask16)((1 << channels) - 1);
    unroll<4>([&](auto i) OCTET_INLINE {
      if (i < count)
        _mm_mask_storeu_epi8(dst + i * dst_pixel, mask, _mm512_extracti32x4_epi32(bytes, (int)i));
    });
  }

  template <int quads>
  OCTET_INLINE inline void store(const Raw (&raw)[4], const uint8_t* scale, uint8_t* dst,
                                 size_t dst_pixel, size_t count, size_t channels) const {
    const __m512 scales = _mm512_load_ps(scale);
    __m512i q[4];
    unroll<4>([&](auto i) OCTET_INLINE { q[i] = scaled(raw[i], scales); });
    const __m128i order = _mm_load_si128((const __m128i*)&kChannelOrder<Machine, uint8_t, quads>);
    const __m512i bytes = requantizer.bytes(pack_int16(q[0], q[1]), pack_int16(q[2], q[3]));
    store_pixels(to_channels(bytes, _mm512_broadcast_i32x4(order)), dst, dst_pixel, count,
                 channels);
  }
  OCTET_INLINE static inline Raw floats(Raw raw, const float* scale, const Requantization& r) {
    return grouped_floats(raw, scale, kChannels, r);
  }
  OCTET_INLINE static inline void store_raw(Raw raw, uint8_t* dst) {
    _mm512_storeu_si512(dst, raw);
  }
  template <int quads>
  OCTET_INLINE static inline void store_s32(Raw raw, uint8_t* dst) {
    _mm512_storeu_si512(dst, _mm512_permutexvar_epi32(
                                 _mm512_load_si512(&kChannelOrder<Machine, int32_t, quads>), raw));
  }
};

}  // namespace

const DepthwiseKernel avx512vnni_u8s8_group64 =
    grouped_kernel<Machine>("avx512vnni_u8s8_group64", TierId::kAvx512Vnni, ElementType::kU8,
                            kGroupedLayout, grouped_output<Machine, __m512i>);

}  // namespace octet
