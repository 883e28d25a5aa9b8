// Takes the largest byte or word of windows.
#pragma once

#include "kernels/generic/functions/windows.h"

namespace octet {
namespace {

// to[c] = the largest of N pixels' bytes, and of to[c] with kMore.
template <size_t N, bool kMore>
OCTET_LOOP void take_largest(uint8_t* __restrict to, const uint8_t* const* pixels, size_t n,
                             uint8_t flip) {
  const uint8_t* from[N];
  for (size_t i = 0; i < N; ++i) from[i] = pixels[i];
  for (size_t c = 0; c < n; ++c) {
    uint8_t largest = (kMore ? to[c] : from[0][c]) ^ flip;
#pragma GCC unroll 9
    for (size_t i = 0; i < N; ++i) {
      const uint8_t byte = from[i][c] ^ flip;
      largest = byte > largest ? byte : largest;
    }
    to[c] = largest ^ flip;
  }
}

OCTET_LOOP void clamp_bytes(uint8_t* to, size_t n, uint8_t least, uint8_t most, uint8_t flip) {
  for (size_t c = 0; c < n; ++c) {
    const uint8_t byte = to[c] ^ flip, above = byte > least ? byte : least;
    to[c] = (above < most ? above : most) ^ flip;
  }
}

// to[c] = the largest of N pixels' words, and of to[c].
template <size_t N>
OCTET_LOOP void take_largest_words(int16_t* __restrict to, const uint8_t* const* pixels, size_t n) {
  const int16_t* from[N];
  for (size_t i = 0; i < N; ++i) from[i] = (const int16_t*)pixels[i];
  for (size_t c = 0; c < n; ++c) {
    int16_t largest = to[c];
#pragma GCC unroll 4
    for (size_t i = 0; i < N; ++i) largest = from[i][c] > largest ? from[i][c] : largest;
    to[c] = largest;
  }
}

// The output begins at the least word, which is clamped with all others.
inline void max_pool_words(const MaxPool& f, const ImageCall& call) {
  constexpr size_t kPixels = 4;
  const int16_t least = (int16_t)f.least, most = (int16_t)f.most;
  const auto take = [&](uint8_t* to_bytes, const Span& rows, const Span& columns, size_t n) {
    int16_t* const to = (int16_t*)to_bytes;
    for (size_t c = 0; c < n; ++c) to[c] = least;
    for_each_group<kPixels>(call.input, rows, columns, [&](const uint8_t** pixels, size_t count) {
      for (size_t i = count; i < kPixels; ++i) pixels[i] = pixels[0];
      take_largest_words<kPixels>(to, pixels, n);
    });
    for (size_t c = 0; c < n; ++c) to[c] = to[c] < most ? to[c] : most;
  };
  for_each_window(call, f.window, take);
}

// Windows of 2x2 and 3x3 are one group.
inline void max_pool(const MaxPool& f, const ImageCall& call) {
  if (f.element == sizeof(int16_t)) return max_pool_words(f, call);
  constexpr size_t kFew = 4, kPixels = 9;
  const Bytes bytes(f.is_signed);
  const uint8_t flip = bytes.flip;
  const bool clamps = f.least > bytes.least || f.most < bytes.most;
  const auto take = [&](uint8_t* to, const Span& rows, const Span& columns, size_t n) {
    bool more = false;
    for_each_group<kPixels>(call.input, rows, columns, [&](const uint8_t** pixels, size_t count) {
      const size_t whole = count > kFew ? kPixels : kFew;
      for (size_t i = count; i < whole; ++i) pixels[i] = pixels[0];
      if (count > kFew)
        (more ? take_largest<kPixels, true> : take_largest<kPixels, false>)(to, pixels, n, flip);
      else
        (more ? take_largest<kFew, true> : take_largest<kFew, false>)(to, pixels, n, flip);
      more = true;
    });
    if (clamps)
      clamp_bytes(to, n, (uint8_t)(f.least + bytes.zero), (uint8_t)(f.most + bytes.zero), flip);
  };
  for_each_window(call, f.window, take);
}

}  // namespace
}  // namespace octet
