// SPDX-License-Identifier: Apache-2.0
// Grouped convolution in plain C++: it defines the correct result and runs where no other kernel
// does.
#include "kernels/generic/portable.h"
#include "kernels/scalar/kernels.h"

namespace octet {
namespace {

// Writes the init of the block's channels, then its weights unchanged.
void prepare(const DepthwiseBlock& b, void* prepared) {
  const size_t init_bytes = 4 * kGroupedBlock;
  __builtin_memcpy(prepared, b.init, init_bytes);
  __builtin_memcpy((uint8_t*)prepared + init_bytes, b.weights,
                   b.groups * b.quads * 4 * kGroupedBlock);
}

void multiply(const DepthwiseTile& t) {
  const size_t group = 4 * t.quads;
  for (size_t x = 0; x < t.columns; ++x)
    for (size_t c = 0; c < kGroupedBlock; ++c) {
      int32_t init;
      __builtin_memcpy(&init, (const uint8_t*)t.prepared + 4 * c, sizeof init);
      uint32_t acc = (uint32_t)init;
      const int8_t* tap = (const int8_t*)t.prepared + 4 * kGroupedBlock;
      for (size_t slot = 0; slot < t.groups; ++slot, tap += group * kGroupedBlock) {
        const uint8_t* const pixel = t.pixels[slot] + x * t.steps[slot] + c / group * group;
        for (size_t i = 0; i < group; ++i)
          acc += (uint32_t)(pixel[i] * tap[grouped_position(t.quads, c, i / 4) + i % 4]);
      }
      __builtin_memcpy(t.dst + x * t.dst_pixel + 4 * c, &acc, sizeof acc);
    }
}

}  // namespace

const DepthwiseKernel scalar_u8s8_group16 = {
    .name = "scalar_u8s8_group16",
    .tier_id = TierId::kScalar,
    .lhs_element_type = ElementType::kU8,
    .flags = kAnyLhs,
    .layout = kGroupedLayout,
    .channels = kGroupedBlock,
    .reach = kGroupedBlock,
    .rows = 1,
    .prepare = prepare,
    .multiply = multiply,
};

}  // namespace octet
