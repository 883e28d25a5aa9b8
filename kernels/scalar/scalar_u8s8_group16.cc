// SPDX-License-Identifier: Apache-2.0
// Grouped convolution in plain C++: it defines the correct result and runs where no other kernel
// does.
#include "kernels/generic/portable.h"
#include "kernels/scalar/kernels.h"

namespace octet {
namespace {

// Writes the init of the block's channels, then its weights as int16, with their offsets.
void prepare(const DepthwiseBlock& b, void* prepared) {
  const size_t init_bytes = 4 * kGroupedBlock;
  __builtin_memcpy(prepared, b.init, init_bytes);
  int16_t* tap = (int16_t*)((uint8_t*)prepared + init_bytes);
  const int8_t* weights = (const int8_t*)b.weights;
  const size_t count = b.quads * 4 * kGroupedBlock;
  for (size_t slot = 0; slot < b.groups; ++slot, tap += count, weights += count) {
    for (size_t i = 0; i < count; ++i) tap[i] = weights[i];
    for (size_t c = 0; b.offsets && c < kGroupedBlock; ++c)
      for (size_t i = 0; i < 4 * b.quads; ++i)
        tap[grouped_position(b.quads, c, i / 4) + i % 4] += b.offsets[c];
  }
}

void multiply(const DepthwiseTile& t) {
  const size_t group = 4 * t.quads;
  for (size_t x = 0; x < t.columns; ++x)
    for (size_t c = 0; c < kGroupedBlock; ++c) {
      int32_t init;
      __builtin_memcpy(&init, (const uint8_t*)t.prepared + 4 * c, sizeof init);
      uint32_t acc = (uint32_t)init;
      const int16_t* tap = (const int16_t*)t.prepared + 2 * kGroupedBlock;
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
