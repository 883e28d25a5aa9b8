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
