// SPDX-License-Identifier: Apache-2.0
// Winograd's transforms for the baseline. NEON has a file of its own, because it requantizes in
// registers.
#include "kernels/generic/portable.h"
#include "kernels/generic/winograd.h"

namespace octet {
namespace {

struct Lanes : WinogradLanes<16> {
  static constexpr int kAhead = 0;
  typedef int32_t Signed __attribute__((vector_size(16)));
  template <typename Byte>
  static Int16 widen(const uint8_t* bytes) {
    Int16 s16;
    for (int i = 0; i < 8; ++i) s16[i] = (uint16_t)(Byte)bytes[i];
    return s16;
  }
  OCTET_INLINE static inline Int16 widen_u8(const uint8_t* bytes) { return widen<uint8_t>(bytes); }
  OCTET_INLINE static inline Int16 widen_s8(const uint8_t* bytes) { return widen<int8_t>(bytes); }
  static void store_int8(uint8_t* bytes, Int16 s16, int16_t factor, uint8_t flip) {
    for (int i = 0; i < 8; ++i) {
      const int32_t rounded = ((int16_t)s16[i] * factor + (1 << 14)) >> 15;
      bytes[i] = (uint8_t)((rounded < -128 ? -128 : rounded > 127 ? 127 : rounded) ^ flip);
    }
  }
  // Adding 2^23 with the sign of x leaves no fraction bits; larger values have none anyway.
  OCTET_INLINE static inline Sums round(Floats x) {
    const Signed sign = (Signed)x & INT32_MIN, whole = ((Signed)x & INT32_MAX) >= 0x4B000000;
    const Floats shift = (Floats)(sign | 0x4B000000), rounded = (x + shift) - shift;
    return (Sums) __builtin_convertvector(
        (Floats)(((Signed)x & whole) | ((Signed)rounded & ~whole)), Signed);
  }
  template <typename Variant>
  static void output(const WinogradOutput& o) {
    output_s32<Variant, Lanes>(o);
  }
};

}  // namespace

const WinogradOps portable_winograd = winograd_ops<Lanes>(64);

}  // namespace octet
