// SPDX-License-Identifier: Apache-2.0
// The constants of NEON's kernels of 4 bits, which differ by their rows.
#pragma once

#include "kernels/arm/shared/int4.h"

namespace octet {
namespace {

// Weights from -8 to 7 have no -128, which some kernels cannot multiply.
template <const MicroKernel& self, const MicroKernel& operands, uint8_t rows>
constexpr MicroKernel int4_kernel_of(const char* name) {
  constexpr uint16_t kNr = 64;
  return {
      .name = name,
      .tier_id = TierId::kNeon,
      .lhs_element_type = ElementType::kS8,
      .mr = rows,
      .nr = kNr,
      .flags = kAnyLhs | kStores | kRowFactors,
      .rhs_layout = kNeonInt4Layout,
      .lhs_kr = 16,
      .multiply = multiply_int4_by<self, operands>,
      .decoder = {decode_int4_neon, 2 * kInt4Group, kInt4Group, int4_room(rows * kNr), 2},
  };
}

}  // namespace
}  // namespace octet
