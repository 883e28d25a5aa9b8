// SPDX-License-Identifier: Apache-2.0
// Grouped convolution, s8 x s8 -> s32 or 8 bits, SDOT by element: an instruction multiplies four
// channels' weights by a quad (four channels) of the pixel.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/grouped.h"

namespace octet {
namespace {

struct Machine : GroupedSixteen {
  using GroupedSixteen::GroupedSixteen;
  using Pixel = int8x16_t;
  template <int quads>
  static constexpr int kVectors = 4 * quads;

  // Writes the weights as [quad][accumulator], four channels each
  template <int quads>
  static void prepare(const uint8_t* tap, uint8_t* out) {
    for (size_t quad = 0; quad < quads; ++quad)
      for (size_t channel = 0; channel < kGroupedBlock; ++channel, out += 4)
        __builtin_memcpy(out, tap + grouped_position(quads, channel, quad), 4);
  }

  // An accumulator's four channels are of the group that the pixel's quad of its number is in.
  static constexpr bool kSums = true;
  template <int quads>
  static constexpr bool kSumsByTap = quads < 4;
  static uint32_t to_lane(int16_t offset) { return (uint32_t)offset; }
  OCTET_INLINE static inline Vector plus_pixel(Vector sums, Pixel pixel) {
    return vdotq_s32(sums, pixel, vdupq_n_s8(1));
  }
  template <int quads>
  OCTET_INLINE static inline void add_products(Vector (&acc)[4], Vector sums,
                                               const uint8_t* offsets) {
    if (quads > 1) sums = vaddq_s32(sums, vrev64q_s32(sums));
    unroll<4>([&](auto a) OCTET_INLINE { add_product<a>(acc[a], at(offsets, a), sums); });
  }
  OCTET_INLINE static inline Vector plus(Vector a, Vector b) { return vaddq_s32(a, b); }
  OCTET_INLINE static inline Vector plus_pixels(Vector sums, const uint8_t* pixels) {
    return plus_pixel(sums, vreinterpretq_s8_u8(vld1q_u8(pixels)));
  }
  OCTET_INLINE static inline void store_sums(Vector s, size_t, uint8_t* to) {
    s = plus(s, vrev64q_s32(s));
    vst1q_s32((int32_t*)to, plus(s, vextq_s32(s, s, 2)));
  }
  template <int accs>
  OCTET_INLINE static inline void add_offsets(Vector (&acc)[accs], const uint8_t* sums,
                                              const uint8_t* offsets) {
    const Vector four = vld1q_s32((const int32_t*)sums);
    unroll<accs>([&](auto a) OCTET_INLINE { add_product<a>(acc[a], at(offsets, a), four); });
  }
  // GCC 12 would copy lanes first
  template <int lane>
  OCTET_INLINE static inline void add_product(Vector& acc, Vector offsets, Vector sums) {
    __asm__("mla %0.4s, %1.4s, %2.s[%c3]" : "+w"(acc) : "w"(offsets), "w"(sums), "n"(lane));
  }

  template <int quads>
  OCTET_INLINE static inline Pixel load(const uint8_t* p, int) {
    return vreinterpretq_s8_u8(vld1q_u8(p));
  }
  template <int quads, int index>
  OCTET_INLINE static inline Vector dot(Vector acc, Pixel pixel, Vector weights, Int<index>) {
    return vdotq_laneq_s32(acc, vreinterpretq_s8_s32(weights), pixel,
                           input(quads, index % 4, index / 4 * 4) / 4);
  }
};

}  // namespace

const DepthwiseKernel dotprod_s8s8_group64 = grouped_kernel<Machine>(
    "dotprod_s8s8_group64", TierId::kDotprod, ElementType::kS8, kGroupedLayout);

}  // namespace octet
