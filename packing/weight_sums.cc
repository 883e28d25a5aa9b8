// SPDX-License-Identifier: Apache-2.0
// Sums of a column's weights.
#include "packing/weight_sums.h"

#include <stdlib.h>

namespace octet {
namespace {

// Reads weights as u8. Compilers turn sums of |a - b| of bytes into one instruction (PSADBW,
// UABAL), so it sums |w - zero| and |w - none| with `none` = 0, which is w.
template <typename Stride>
WeightSums sum(const uint8_t* data, Stride stride, size_t count, uint8_t flip, uint8_t zero,
               uint8_t none) {
  uint32_t distance = 0, total = 0;
  uint8_t least = 0xff;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t w = (uint8_t)(data[i * stride] ^ flip);
    distance += (uint32_t)abs(w - zero);
    total += (uint32_t)abs(w - none);
    least = w < least ? w : least;
  }
  return sums_of(total - (uint32_t)count * zero, distance, least == 0);
}

struct One {
  constexpr operator size_t() const { return 1; }
};

}  // namespace

WeightSums sum_weights(const uint8_t* data, size_t stride, size_t count, ElementType type,
                       int32_t zero_point) {
  const uint8_t flip = type == ElementType::kU8 ? 0 : 0x80, zero = (uint8_t)(zero_point ^ flip);
  uint8_t none = 0;
  __asm__("" : "+r"(none));  // else compilers simplify the sum, and use a slower instruction
  return stride == 1 ? sum(data, One{}, count, flip, zero, none)
                     : sum(data, stride, count, flip, zero, none);
}

}  // namespace octet
