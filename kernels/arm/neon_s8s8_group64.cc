// SPDX-License-Identifier: Apache-2.0
// Grouped convolution, s8 x s8 -> s32 or 8 bits for ARMv8.0: pixels and weights are widened to
// int16, and SMLAL by element multiplies four channels' weights by one channel of the pixel.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/grouped.h"

namespace octet {
namespace {

struct Machine : GroupedSixteen {
  using GroupedSixteen::GroupedSixteen;
  struct Pixel {
    int16x8_t half[2];
  };
  template <int quads>
  static constexpr int kVectors = 8 * quads;

  static constexpr bool kSums = false;
  template <int quads>
  static constexpr bool kSumsByTap = false;
  // Writes the weights as [pair of input channels][accumulator][input channel], four int16 each
  template <int quads>
  static void prepare(const uint8_t* tap, const int16_t* offsets, uint8_t* out) {
    int16_t* to = (int16_t*)out;
    for (size_t pair = 0; pair < 2 * quads; ++pair)
      for (size_t four = 0; four < kGroupedBlock; four += 4)
        for (size_t i = 2 * pair; i < 2 * pair + 2; ++i)
          for (size_t channel = four; channel < four + 4; ++channel)
            *to++ = (int16_t)((int8_t)tap[grouped_position(quads, channel, i / 4) + i % 4] +
                              (offsets ? offsets[channel] : 0));
  }

  template <int quads>
  OCTET_INLINE static inline Pixel load(const uint8_t* p, int) {
    const int8x16_t bytes = vreinterpretq_s8_u8(vld1q_u8(p));
    return {{vmovl_s8(vget_low_s8(bytes)), vmovl_high_s8(bytes)}};
  }
  template <int quads, int index>
  OCTET_INLINE static inline Vector dot(Vector acc, const Pixel& pixel, Vector weights,
                                        Int<index>) {
    constexpr int lane = input(quads, index % 4, index / 4 * 2);
    const int16x8_t w = vreinterpretq_s16_s32(weights), half = pixel.half[lane / 8];
    acc = vmlal_laneq_s16(acc, vget_low_s16(w), half, lane % 8);
    return vmlal_high_laneq_s16(acc, w, half, lane % 8 + 1);
  }
};

}  // namespace

const DepthwiseKernel neon_s8s8_group64 =
    grouped_kernel<Machine>("neon_s8s8_group64", TierId::kNeon, ElementType::kS8, kGroupedLayout);

}  // namespace octet
