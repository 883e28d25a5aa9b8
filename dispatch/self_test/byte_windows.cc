// SPDX-License-Identifier: Apache-2.0
// Self-test of kernels of windows as bytes.
#include <string.h>

#include "dispatch/self_test/cases.h"
#include "dispatch/self_test/conv.h"

namespace octet {
namespace {

using Kernel = ByteWindowsKernel;

// Outputs of a window of kQuads quads; the second tile repeats outputs of the first.
constexpr size_t kPairs = Kernel::kPairs + 1, kOutputs = 2 * kPairs, kQuads = 5,
                 kStep = Kernel::kPixel;
constexpr size_t kPixels = 5;

struct Buffers {
  alignas(64) uint8_t weights[kQuads * 4 * Kernel::kChannels];
  alignas(64) int32_t init[2 * Kernel::kChannels];
  alignas(64) float scale[2 * Kernel::kChannels];  // and biases of f32
  uint8_t windows[kOutputs * kStep], out[kOutputs][Kernel::kChannels];
  float floats[kOutputs][Kernel::kChannels];
};

// Copies five pixels, of which two have a crowded pair each, of which one does not count.
bool copies(const Kernel& kernel, const Operands& operands) {
  uint8_t from[kPixels * Kernel::kPixel], to[sizeof from], flipped[sizeof from];
  for (size_t i = 0; i < sizeof from; ++i) from[i] = (uint8_t)(0x80 | (operands.lhs[i] & 0x7f));
  memset(from + Kernel::kPixel + 6, 0x7f, 2);                                // 255 + 255
  from[3 * Kernel::kPixel + 8] = 0x7f, from[3 * Kernel::kPixel + 9] = 0x82;  // 255 + 2
  for (size_t i = 0; i < sizeof from; ++i) flipped[i] = from[i] ^ 0x80;
  memset(to, 0, sizeof to);
  BytePixels pixels = {from, Kernel::kPixel, kPixels, 0x80, to, Kernel::kPixel, 0xffffff3f};
  uint32_t crowded = 1;
  if (kernel.copy(pixels, &crowded) != 4 || crowded != 0x300 ||
      memcmp(to, flipped, 4 * Kernel::kPixel) != 0)
    return false;
  pixels.from += 4 * Kernel::kPixel, pixels.to += 4 * Kernel::kPixel, pixels.count = 1;
  return kernel.copy(pixels, &crowded) == 1 && crowded == 0 && !memcmp(to, flipped, sizeof to);
}

bool arranges(const Kernel& kernel, const Operands& operands, Buffers* b) {
  constexpr size_t kAparts[] = {8, 16};
  for (const size_t apart : kAparts) {
    kernel.arrange(operands.rhs, apart, b->weights);
    for (size_t q = 0; q < 2; ++q)
      for (size_t c = 0; c < Kernel::kChannels; ++c)
        if (memcmp(b->weights + (q * Kernel::kChannels + c) * 4, operands.rhs + c * apart + 4 * q,
                   4) != 0)
          return false;
  }
  return true;
}

// The largest sum of weights of one sign that each pair of a quad meets, of two taps of a quad.
bool finds_most(const Kernel& kernel, const Buffers& b) {
  int16_t most[2] = {3, 300};
  kernel.find_most(b.weights, 2, 1, most);
  int16_t expected[2] = {3, 300};
  for (size_t at = 0; at < 2 * 4 * Kernel::kChannels; at += 2) {
    int sum[2] = {};
    for (size_t i = 0; i < 2; ++i) {
      const int weight = (int8_t)b.weights[at + i];
      sum[weight < 0] += weight < 0 ? -weight : weight;
    }
    int16_t& pair = expected[at / 2 % 2];
    for (const int each : sum)
      if (each > pair) pair = (int16_t)each;
  }
  return memcmp(most, expected, sizeof most) == 0;
}

bool adds(const Kernel& kernel, const Buffers& b) {
  int32_t sums[Kernel::kChannels];
  memcpy(sums, b.init, sizeof sums);
  kernel.add(255u << 16, b.weights, sums);
  for (size_t c = 0; c < Kernel::kChannels; ++c)
    if (sums[c] != b.init[c] + 255 * (int8_t)b.weights[4 * c + 2]) return false;
  return true;
}

int32_t clamped(int32_t value, int32_t lo, int32_t hi) {
  return value < lo ? lo : value > hi ? hi : value;
}

// Scales are powers of two, so that a product is exact, and its rounding is that of integers.
uint8_t requantized(int32_t acc) {
  const int32_t half = 1 << 7, down = acc >> 8, rest = acc & 255;
  const int32_t rounded = down + (rest > half || (rest == half && (down & 1)));
  const Requantization& r = kRequantizeU8;
  const int32_t moved = rounded + r.zero_point;
  return (uint8_t)clamped(moved, r.lo, r.hi);
}

bool multiplies(const Kernel& kernel, Buffers* b) {
  WindowPair pairs[kPairs];
  uint32_t rows[kOutputs], offsets[kQuads];
  for (size_t i = 0; i < kPairs; ++i) pairs[i] = {(uint32_t)(2 * i * kStep), (uint32_t)(2 * i)};
  for (size_t i = 0; i < kOutputs; ++i)
    rows[i] = (uint32_t)(i % 3 == 1 ? Kernel::kChannels * sizeof(int32_t) : 0);
  for (size_t q = 0; q < kQuads; ++q) offsets[q] = (uint32_t)(4 * ((3 * q + 1) % kQuads));
  ByteWindows t = {b->windows,
                   pairs,
                   kPairs,
                   kStep,
                   offsets,
                   kQuads,
                   b->weights,
                   (const uint8_t*)b->init,
                   rows,
                   b->scale,
                   &kRequantizeU8,
                   b->out[0],
                   Kernel::kChannels};
  kernel.multiply(t);
  // In 256ths, as sums are
  constexpr int32_t kLo = -16 * 256, kHi = 20 * 256, kBias = 5 * 256;
  Requantization floats = {};
  floats.to_floats = floats.clamps = true, floats.bias_apart = Kernel::kChannels;
  floats.lo_f32 = (float)kLo / 256, floats.hi_f32 = (float)kHi / 256;
  t.requantization = &floats, t.dst = (uint8_t*)b->floats[0], t.dst_stride = sizeof b->floats[0];
  kernel.multiply(t);
  for (size_t i = 0; i < kOutputs; ++i)
    for (size_t c = 0; c < Kernel::kChannels; ++c) {
      int32_t acc = b->init[rows[i] / sizeof(int32_t) + c];
      for (size_t q = 0; q < kQuads; ++q)
        for (size_t k = 0; k < 4; ++k)
          acc += b->windows[i * kStep + offsets[q] + k] *
                 (int8_t)b->weights[(q * Kernel::kChannels + c) * 4 + k];
      if (b->out[i][c] != requantized(acc) ||
          b->floats[i][c] != (float)clamped(acc + kBias, kLo, kHi) / 256)
        return false;
    }
  return true;
}

}  // namespace

bool passes(const ByteWindowsKernel& kernel) {
  const Operands operands;
  Buffers b;
  if (!copies(kernel, operands) || !arranges(kernel, operands, &b)) return false;
  memcpy(b.weights, operands.rhs, sizeof b.weights);
  for (size_t i = 0; i < sizeof b.windows; ++i) {
    // No pair exceeds kMostOfPair
    const uint8_t x = operands.lhs[i % sizeof operands.lhs];
    b.windows[i] = i % 2 && x > Kernel::kMostOfPair - b.windows[i - 1]
                       ? (uint8_t)(Kernel::kMostOfPair - b.windows[i - 1])
                       : x;
  }
  for (size_t i = 0; i < 2 * Kernel::kChannels; ++i) b.init[i] = (int32_t)(i * 997) - 6000;
  for (size_t c = 0; c < Kernel::kChannels; ++c)
    b.scale[c] = 1.0f / 256, b.scale[Kernel::kChannels + c] = 5;
  return finds_most(kernel, b) && adds(kernel, b) && multiplies(kernel, &b);
}

}  // namespace octet
