// SPDX-License-Identifier: Apache-2.0
// Computes softmax over the channels of each pixel, in each engine's arithmetic or to floats.
#pragma once

#include "kernels/generic/functions/windows.h"
#include "kernels/generic/round.h"

namespace octet {
namespace {

OCTET_LOOP uint8_t largest_of(const uint8_t* from, size_t n, uint8_t flip) {
  uint8_t largest = 0;
  for (size_t c = 0; c < n; ++c) {
    const uint8_t byte = from[c] ^ flip;
    largest = byte > largest ? byte : largest;
  }
  return largest;
}

// Small scales give numbers beyond int32, infinity and, of 0 * infinity, NaN.
template <typename Real>
inline Real within_share(Real exact, Real most) {
  const Real above = exact > 0 ? exact : 0;
  return above < most ? above : most;
}

// Of a small number that is not below 0, halves to even, as round_half_even has it for floats.
inline int32_t round_share(double exact) {
  constexpr double kAbove = 6755399441055744.0;  // 1.5 * 2^52
  return (int32_t)(exact + kAbove - kAbove);
}

// shares[i]: of a channel with exponentials[i].
OCTET_LOOP void shares_of(const Softmax& f, float sum, const float* exponentials,
                          uint8_t* __restrict shares, size_t count) {
  const int32_t zero = f.out_zero_point;
  const float scale = f.out_scale, most = (float)(Bytes(f.is_signed).most - zero);
  if (f.kind == SoftmaxKind::kTflite) {
    const float factor = 1 / (sum * scale);
    for (size_t i = 0; i < count; ++i)
      shares[i] = (uint8_t)((int32_t)within_share(exponentials[i] * factor + 0.5f, most) + zero);
  } else if (f.kind == SoftmaxKind::kQLinear) {
    const double factor = scale, divisor = sum, bound = most;
    for (size_t i = 0; i < count; ++i)
      shares[i] =
          (uint8_t)(round_share(within_share(exponentials[i] * factor / divisor, bound)) + zero);
  } else {
    for (size_t i = 0; i < count; ++i)
      shares[i] =
          (uint8_t)(round_half_even(within_share(exponentials[i] / sum / scale, most)) + zero);
  }
}

// Sums are of floats, in the order of channels.
inline void softmax_pixel(const Softmax& f, const uint8_t* from, size_t n, uint8_t* to) {
  const uint8_t flip = Bytes(f.is_signed).flip, largest = largest_of(from, n, flip);
  float sum = 0;
  for (size_t c = 0; c < n; ++c) sum += f.exponentials[largest - (from[c] ^ flip)];
  if (f.kind == SoftmaxKind::kFloat) {
    for (size_t c = 0; c < n; ++c) {
      const float share = f.exponentials[largest - (from[c] ^ flip)] / sum;
      __builtin_memcpy(to + c * sizeof share, &share, sizeof share);
    }
    return;
  }
  constexpr size_t kAll = 256;
  if (n < kAll) {
    float exponentials[kAll];
    for (size_t c = 0; c < n; ++c) exponentials[c] = f.exponentials[largest - (from[c] ^ flip)];
    return shares_of(f, sum, exponentials, to, n);
  }
  uint8_t shares[kAll];
  shares_of(f, sum, f.exponentials, shares, kAll);
  for (size_t c = 0; c < n; ++c) to[c] = shares[largest - (from[c] ^ flip)];
}

inline void softmax(const Softmax& f, const ImageCall& call) {
  const ImageLines &in = call.input, &out = call.output;
  for (size_t y = call.first; y < call.end; ++y)
    for (size_t x = 0; x < out.w; ++x)
      softmax_pixel(f, line_of(in, y) + x * in.pixel, out.channels,
                    line_of(out, y) + x * out.pixel);
}

}  // namespace
}  // namespace octet
