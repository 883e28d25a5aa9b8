// Depthwise in plain C++: the definition of right, and the last resort. Each output on its own,
// blocks of 16 channels.
#include "kernels/ref/kernels.h"
#include "kernels/simd/portable.h"

namespace octet {
namespace {

constexpr size_t kChannels = 16;

// [channel] of init, then [group][channel][tap] of weights.
template <typename Weight>
void prepare(const DepthwiseBlock& b, void* prepared) {
  const Weight* const weights = (const Weight*)b.weights;
  Weight* out = (Weight*)((uint8_t*)prepared + 4 * kChannels);
  __builtin_memcpy(prepared, b.init, 4 * kChannels);
  for (size_t g = 0; g < b.groups; ++g)
    for (size_t c = 0; c < kChannels; ++c)
      for (size_t i = 0; i < 4; ++i)
        *out++ = weights[g * kDepthwiseGroup + depthwise_position(c) + i];
}

template <typename Weight>
void multiply(const DepthwiseTile& t) {
  const Weight* weights = (const Weight*)((const uint8_t*)t.prepared + 4 * kChannels);
  const uint8_t flip = t.flip ? 0x80 : 0;
  for (size_t x = 0; x < t.columns; ++x)
    for (size_t c = 0; c < kChannels; ++c) {
      int32_t init;
      __builtin_memcpy(&init, (const uint8_t*)t.prepared + 4 * c, sizeof init);
      uint32_t acc = (uint32_t)init;
      for (size_t slot = 0; slot < 4 * t.groups; ++slot)
        acc += (uint32_t)((t.pixels[slot][x * t.steps[slot] + c] ^ flip) *
                          weights[slot / 4 * 4 * kChannels + 4 * c + slot % 4]);
      __builtin_memcpy(t.dst + x * t.dst_pixel + 4 * c, &acc, sizeof acc);
    }
}

}  // namespace

const DepthwiseKernel scalar_u8s8_dw16 = {
    .name = "scalar_u8s8_dw16",
    .isa = Isa::kScalar,
    .lhs_domain = Domain::kU8,
    .flags = kAnyLhs,
    .layout = kDepthwiseLayout,
    .channels = kChannels,
    .reach = kChannels,
    .rows = 1,
    .prepare = prepare<int8_t>,
    .multiply = multiply<int8_t>,
};

const DepthwiseKernel scalar_u8s16_dw16 = {
    .name = "scalar_u8s16_dw16",
    .isa = Isa::kScalar,
    .lhs_domain = Domain::kU8,
    .flags = kAnyLhs,
    .layout = kDepthwiseWordLayout,
    .channels = kChannels,
    .reach = kChannels,
    .rows = 1,
    .prepare = prepare<int16_t>,
    .multiply = multiply<int16_t>,
};

}  // namespace octet
