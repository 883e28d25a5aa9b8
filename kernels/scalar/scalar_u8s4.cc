// SPDX-License-Identifier: Apache-2.0
// u8 x s4 in plain C++: decodes weights for scalar_u8s8_4x16x4.cc and scalar_u8s8.cc.
#include "kernels/generic/gather.h"
#include "kernels/scalar/kernels.h"

namespace octet {
namespace {

constexpr size_t kGroup = 16;
constexpr uint8_t kMr = 4;

template <const MicroKernel& self, const MicroKernel& operands, uint16_t nr>
constexpr MicroKernel kernel(const char* name, uint16_t flags) {
  return {
      .name = name,
      .tier_id = TierId::kScalar,
      .lhs_element_type = ElementType::kU8,
      .mr = kMr,
      .nr = nr,
      .flags = flags,
      .rhs_layout = kScalarInt4Layout,
      .gather = gather_rows<uint8_t, 4>,
      .lhs_lanes_step = kMr,
      .lhs_kr = 4,
      .multiply = multiply_int4_by<self, operands>,
      .decoder = {decode_int4<kGroup>, 2 * kGroup, kGroup, int4_room(kMr * nr), 2},
  };
}

}  // namespace

const MicroKernel scalar_u8s4_4x16x8 =
    kernel<scalar_u8s4_4x16x8, scalar_u8s8_4x16x4, 16>("scalar_u8s4_4x16x8", kAnyLhs | kOptional);
const MicroKernel scalar_u8s4_4x4x8 =
    kernel<scalar_u8s4_4x4x8, scalar_u8s8_4x4x4, 4>("scalar_u8s4_4x4x8", kAnyLhs);

}  // namespace octet
