// SPDX-License-Identifier: Apache-2.0
// Depthwise in plain C++: it defines the correct result and runs where no other kernel does. It
// takes blocks of 16 channels of one output, tap after tap, with the sums in registers: vectors
// where the compiler makes them of a loop of known length, else general registers.
#include "kernels/core/compiler.h"
#include "kernels/core/parts.h"
#include "kernels/scalar/kernels.h"
#include "kernels/scalar/vectors.h"

// Stands before the loop over the taps, which must not be vectorized.
#if defined(__clang__)
#define OCTET_TAPS OCTET_PRAGMA(clang loop unroll(disable) vectorize(disable))
#else
#define OCTET_TAPS OCTET_NO_UNROLL
#endif

namespace octet {
namespace {

constexpr size_t kChannels = 16;
constexpr size_t kSums = OCTET_VECTORS || UINTPTR_MAX > UINT32_MAX ? kChannels : kChannels / 2;

#if defined(__riscv_vector)
// Clang 14 for RISC-V vectorizes neither the unrolled loop nor, with sums in registers, the rolled
// one; it does use vectors for whole vector types.
template <typename T>
OCTET_INLINE inline auto channels_of(const T* from) {
  typedef T Requantization __attribute__((vector_size(kSums * sizeof(T))));
  typedef uint32_t Wide __attribute__((vector_size(kSums * sizeof(uint32_t))));
  Requantization values;
  __builtin_memcpy(&values, from, sizeof values);
  return __builtin_convertvector(values, Wide);
}

template <typename Weight, typename Pixel>
void add_taps(const DepthwiseTile& t, size_t x, size_t channel, const uint32_t* init,
              const Weight* weights) {
  auto acc = channels_of(init + channel);
  const Weight* w = weights + channel;
  OCTET_NO_UNROLL
  for (size_t slot = 0; slot < 4 * t.groups; ++slot, w += kChannels)
    acc +=
        channels_of((const Pixel*)(t.pixels[slot] + x * t.steps[slot]) + channel) * channels_of(w);
  __builtin_memcpy((uint32_t*)(t.dst + x * t.dst_pixel) + channel, &acc, sizeof acc);
}

#else

// Keeps loads on their side of this point: compilers would load all bytes of a tap first and have
// no registers left for the sums.
OCTET_INLINE inline void in_order(uint32_t sum) {
#if OCTET_VECTORS
  (void)sum;
#else
  __asm__ volatile("" : : "r"(sum) : "memory");
#endif
}

// Three taps take a group's four slots. Checking for the empty slot pays where sums are added one
// by one.
template <typename Weight>
OCTET_INLINE inline bool is_empty(size_t slot, const Weight* weights) {
  if (OCTET_VECTORS || slot % 4 != 3) return false;
  uint64_t bits[kSums * sizeof(Weight) / sizeof(uint64_t)], any = 0;
  __builtin_memcpy(bits, __builtin_assume_aligned(weights, sizeof *bits), sizeof bits);
  for (const uint64_t b : bits) any |= b;
  return any == 0;
}

template <typename Weight, typename Pixel>
void add_taps(const DepthwiseTile& t, size_t x, size_t channel, const uint32_t* init,
              const Weight* weights) {
  uint32_t acc[kSums];
  OCTET_UNROLL(16)
  for (size_t c = 0; c < kSums; ++c) acc[c] = init[channel + c];
  const Weight* w = weights + channel;
  OCTET_TAPS
  for (size_t slot = 0; slot < 4 * t.groups; ++slot, w += kChannels) {
    if (is_empty(slot, w)) continue;
    const Pixel* const pixel = (const Pixel*)(t.pixels[slot] + x * t.steps[slot]) + channel;
    OCTET_UNROLL(16)
    for (size_t c = 0; c < kSums; ++c) {
      acc[c] += (uint32_t)(pixel[c] * w[c]);
      in_order(acc[c]);
    }
  }
  uint32_t* const out = (uint32_t*)(t.dst + x * t.dst_pixel) + channel;
  OCTET_UNROLL(16)
  for (size_t c = 0; c < kSums; ++c) out[c] = acc[c];
}

#endif

// Writes the init for u8 pixels, the init for s8 pixels (a flipped pixel, p ^ 0x80, is its s8 value
// plus 128), then the weights by [tap][channel].
template <typename Weight>
void prepare(const DepthwiseBlock& b, void* prepared) {
  const Weight* const weights = (const Weight*)b.weights;
  uint32_t* const init = (uint32_t*)prepared;
  Weight* const out = (Weight*)(init + 2 * kChannels);
  for (size_t c = 0; c < kChannels; ++c) {
    uint32_t sum = 0;
    for (size_t slot = 0; slot < 4 * b.groups; ++slot) {
      const Weight w = weights[slot / 4 * kDepthwiseGroup + depthwise_position(c) + slot % 4];
      out[slot * kChannels + c] = w;
      sum += (uint32_t)w;
    }
    init[c] = (uint32_t)b.init[c];
    init[kChannels + c] = init[c] + 128 * sum;
  }
}

template <typename Weight, typename Pixel>
void multiply_pixels(const DepthwiseTile& t, const uint32_t* init) {
  const Weight* const weights = (const Weight*)((const uint32_t*)t.prepared + 2 * kChannels);
  for (size_t x = 0; x < t.columns; ++x)
    for (size_t c = 0; c < kChannels; c += kSums) add_taps<Weight, Pixel>(t, x, c, init, weights);
}

template <typename Weight>
void multiply(const DepthwiseTile& t) {
  const uint32_t* const init = (const uint32_t*)t.prepared;
  t.flip ? multiply_pixels<Weight, int8_t>(t, init + kChannels)
         : multiply_pixels<Weight, uint8_t>(t, init);
}

void multiply_s16(const DepthwiseTile& t) {
  multiply_pixels<int8_t, int16_t>(t, (const uint32_t*)t.prepared);
}

template <typename Weight>
constexpr DepthwiseKernel kernel(const char* name,
                                 [[maybe_unused]] const DepthwiseKernel* s16 = nullptr) {
  return {
      .name = name,
      .tier_id = TierId::kScalar,
      .lhs_element_type = ElementType::kU8,
      .flags = kAnyLhs,
      .layout = depthwise_layout(sizeof(Weight)),
      .channels = kChannels,
      .reach = kChannels,
      .rows = 1,
      .s16 = OCTET_IF(INT16, s16, nullptr),
      .prepare = prepare<Weight>,
      .multiply = multiply<Weight>,
  };
}

}  // namespace

const DepthwiseKernel scalar_s16s8_full_dw16 = {
    .name = "scalar_s16s8_full_dw16",
    .tier_id = TierId::kScalar,
    .lhs_element_type = ElementType::kS16,
    .layout = depthwise_layout(1),
    .channels = kChannels,
    .reach = 2 * kChannels,
    .rows = 1,
    .prepare = prepare<int8_t>,
    .multiply = multiply_s16,
};
const DepthwiseKernel scalar_u8s8_dw16 =
    kernel<int8_t>("scalar_u8s8_dw16", &scalar_s16s8_full_dw16);
const DepthwiseKernel scalar_u8s16_dw16 = kernel<int16_t>("scalar_u8s16_dw16");

}  // namespace octet
