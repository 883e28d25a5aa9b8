// SPDX-License-Identifier: Apache-2.0
// The kernel of a tier that exists in a test only, in plain C++: its tile is unlike others, it
// needs a feature of its own, and it has a state to enter.
#include "kernels/core/micro_kernel.h"
#include "kernels/generic/gather.h"
#include "kernels/scalar/kernels.h"

namespace octet {
namespace {

// The largest number of rows that a tile may have.
constexpr size_t kMr = 32, kKr = 4;

// Products are right only between enter and leave.
thread_local int entered = 0;
void enter() { ++entered; }
void leave() { --entered; }

void multiply(const Tile& t) {
  for (size_t i = 0; i < t.rows; ++i)
    for (size_t j = 0; j < t.cols; ++j) {
      uint32_t acc = (uint32_t)t.init[i * t.init_stride + j] + (entered != 1);
      for (size_t group = 0; group * kKr < t.depth; ++group) {
        const uint8_t* lhs = (const uint8_t*)t.lhs + (group * kMr + i) * kKr;
        const int8_t* rhs = (const int8_t*)t.rhs + group * t.rhs_stride + j * kKr;
        for (size_t k = 0; k < kKr; ++k) acc += (uint32_t)(lhs[k] * rhs[k]);
      }
      ((int32_t*)((uint8_t*)t.dst + i * t.dst_stride))[j] = (int32_t)acc;
    }
}

}  // namespace

const MicroKernel throwaway_u8s8_32x8x4 = {
    .name = "throwaway_u8s8_32x8x4",
    .tier_id = TierId::kThrowaway,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = 8,
    .flags = kAnyLhs,
    .rhs_layout = kThrowawayLayout,
    .gather = gather_rows<uint8_t, kKr>,
    .lhs_lanes_step = kMr,
    .lhs_kr = kKr,
    .multiply = multiply,
    .needs = kHasThrowaway,
    .enter = enter,
    .leave = leave,
};

}  // namespace octet
