// Computes softmax over the channels of each pixel, as TFLite does or to floats.
#pragma once

#include "kernels/generic/functions/windows.h"

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

constexpr float kMostShare = 256;  // more than all types hold

// shares[i]: of a channel that is i below the largest.
OCTET_LOOP void shares_of(const Softmax& f, float sum, uint8_t* __restrict shares, size_t count) {
  const float factor = 1 / (sum * f.out_scale);
  const int32_t zero = f.out_zero_point, most = Bytes(f.is_signed).most;
  for (size_t i = 0; i < count; ++i) {
    // Small scales give numbers beyond int32, infinity and, of 0 * infinity, NaN
    const float exact = f.exponentials[i] * factor + 0.5f;
    const float above = exact > 0 ? exact : 0;
    const int32_t share = (int32_t)(above < kMostShare ? above : kMostShare) + zero;
    shares[i] = (uint8_t)(share < most ? share : most);
  }
}

// Sums are of floats, in the order of channels.
inline void softmax_pixel(const Softmax& f, const uint8_t* from, size_t n, uint8_t* to) {
  const uint8_t flip = Bytes(f.is_signed).flip, largest = largest_of(from, n, flip);
  float sum = 0;
  for (size_t c = 0; c < n; ++c) sum += f.exponentials[largest - (from[c] ^ flip)];
  if (f.to_float) {
    for (size_t c = 0; c < n; ++c) {
      const float share = f.exponentials[largest - (from[c] ^ flip)] / sum;
      __builtin_memcpy(to + c * sizeof share, &share, sizeof share);
    }
    return;
  }
  uint8_t shares[256];
  shares_of(f, sum, shares, 256);
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
