// Winograd's transforms on NEON.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/intrinsics.h"
#include "kernels/arm/shared/requantize.h"
#include "kernels/generic/winograd.h"

namespace octet {
namespace {

struct Lanes : WinogradLanes<16> {
  static constexpr int kAhead = 0;
  OCTET_INLINE static inline Int16 widen_u8(const uint8_t* bytes) {
    return (Int16)vmovl_u8(vld1_u8(bytes));
  }
  OCTET_INLINE static inline Int16 widen_s8(const uint8_t* bytes) {
    return (Int16)vmovl_s8(vld1_s8((const int8_t*)bytes));
  }
  OCTET_INLINE static inline void store_int8(uint8_t* bytes, Int16 int16, int16_t factor,
                                             uint8_t flip) {
    const int8x8_t rounded = vqmovn_s16(vqrdmulhq_n_s16((int16x8_t)int16, factor));
    vst1_u8(bytes, veor_u8(vreinterpret_u8_s8(rounded), vdup_n_u8(flip)));
  }
  OCTET_INLINE static inline Sums round(Floats x) { return (Sums)vcvtnq_s32_f32((float32x4_t)x); }

  template <typename Variant>
  static void output(const WinogradOutput& o);
};

// Two adjacent outputs fill one register of bytes: 2 x 8 columns.
template <typename Variant>
void Lanes::output(const WinogradOutput& o) {
  if (!o.scale) return output_s32<Variant, Lanes>(o);
  constexpr int m = Variant::kOut;
  const Requantizing n = requantizing(*o.requantization);
  int32x4_t q[2][m][m];
  scale_tile<Variant, Lanes>(o, q, [&](Sums sums, Floats scale) OCTET_INLINE {
    return scaled((int32x4_t)sums, (float32x4_t)scale, n);
  });
  const size_t high = o.cols > 4;
  for (size_t y = 0; y < o.height; ++y)
    for (size_t x = 0; x < o.width; x += 2) {
      const uint8x16_t bytes =
          pack(q[0][y][x], q[high][y][x], q[0][y][x + 1], q[high][y][x + 1], n);
      uint8_t pixels[16];
      vst1q_u8(pixels, bytes);
      uint8_t* const dst = (uint8_t*)o.dst + y * o.dst_line + x * o.dst_pixel;
      for (size_t i = 0; i < 2 && x + i < o.width; ++i) {
        if (o.cols == 8)
          memcpy(dst + i * o.dst_pixel, pixels + 8 * i, 8);
        else
          memcpy(dst + i * o.dst_pixel, pixels + 8 * i, o.cols);
      }
    }
}

}  // namespace

const WinogradOps neon_winograd = winograd_ops<Lanes>(8);

}  // namespace octet
