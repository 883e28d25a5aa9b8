// SPDX-License-Identifier: Apache-2.0
// Copies lines between layouts and element types: NCHW, NHWC, floats to int8, s16 values to bytes.
#include "operators/conv/algorithms/stage.h"

#include <string.h>

namespace octet {
namespace {

// Transposes the pixels of a line between planes (NCHW) and contiguous pixels (NHWC). Blocks keep
// both sides within a cache.
template <typename T, bool to_planes>
void transpose_line(T* planes, size_t plane, T* pixels, size_t width, size_t channels) {
  constexpr size_t kBlock = 16;
  for (size_t x0 = 0; x0 < width; x0 += kBlock)
    for (size_t c = 0; c < channels; ++c)
      for (size_t x = x0; x < smaller(width, x0 + kBlock); ++x) {
        T& in_plane = planes[c * plane + x];
        T& in_pixel = pixels[x * channels + c];
        if (to_planes)
          in_plane = in_pixel;
        else
          in_pixel = in_plane;
      }
}

template <bool to_planes>
void transpose(const Tensor& t, size_t image, size_t y, uint8_t* pixels) {
  const size_t plane = t.h * t.w;
  uint8_t* const planes = t.data + (image * t.channels * plane + y * t.w) * t.element;
  if (t.element == 1)
    transpose_line<uint8_t, to_planes>(planes, plane, pixels, t.w, t.channels);
  else if (t.element == 2)
    transpose_line<uint16_t, to_planes>((uint16_t*)planes, plane, (uint16_t*)pixels, t.w,
                                        t.channels);
  else
    transpose_line<uint32_t, to_planes>((uint32_t*)planes, plane, (uint32_t*)pixels, t.w,
                                        t.channels);
}

// Converts `width` pixels of a line. convert(values, count, to) makes `count` bytes of values, at
// each of so many places.
template <typename T, size_t places, typename Convert>
void convert_line(const Tensor& from, size_t image, size_t y, size_t width,
                  uint8_t* const (&to)[places], const Convert& convert) {
  const T* const data = (const T*)from.data;
  const size_t channels = from.channels;
  uint8_t* at[places];
  if (!from.nchw) {
    const size_t pixel = from.pixel / sizeof(T), together = pixel == channels ? width : 1;
    const T* const pixels = (const T*)from.line(image, y);
    for (size_t x = 0; x < width; x += together) {
      for (size_t p = 0; p < places; ++p) at[p] = to[p] + x * channels;
      convert(pixels + x * pixel, together * channels, at);
    }
    return;
  }
  constexpr size_t kPiece = 64;
  uint8_t pieces[places][kPiece];  // of a plane's line
  for (size_t p = 0; p < places; ++p) at[p] = pieces[p];
  const size_t plane = from.h * from.w;
  const T* const planes = data + image * channels * plane + y * from.w;
  for (size_t x0 = 0; x0 < width; x0 += kPiece)
    for (size_t c = 0; c < channels; ++c) {
      const size_t pixels = smaller(width - x0, kPiece);
      convert(planes + c * plane + x0, pixels, at);
      for (size_t p = 0; p < places; ++p)
        for (size_t x = 0; x < pixels; ++x) to[p][(x0 + x) * channels + c] = pieces[p][x];
    }
}

// Copies bytes with the bits of `flip` turned; with a flip, perhaps to their own place.
void copy_turned(const uint8_t* from, size_t count, uint8_t flip, uint8_t* to) {
  if (!flip) {
    memcpy(to, from, count);
    return;
  }
  // The last bytes are read before they may be turned in their own place. Vectors, because GCC 12
  // takes words through the stack
  typedef uint8_t Piece __attribute__((vector_size(16)));
  constexpr size_t kPieces = 4, kBlock = kPieces * sizeof(Piece);
  if (count < kBlock) {
    for (size_t i = 0; i < count; ++i) to[i] = from[i] ^ flip;
    return;
  }
  const Piece flips = flip - Piece{};
  struct Block {
    Piece pieces[kPieces];
    Block(const uint8_t* bytes, Piece flips) {
      for (size_t i = 0; i < kPieces; ++i) {
        memcpy(&pieces[i], bytes + i * sizeof(Piece), sizeof(Piece));
        pieces[i] ^= flips;
      }
    }
    void store(uint8_t* to) const {
      for (size_t i = 0; i < kPieces; ++i)
        memcpy(to + i * sizeof(Piece), &pieces[i], sizeof(Piece));
    }
  };
  const Block last(from + count - kBlock, flips);
  for (size_t i = 0; i + kBlock <= count; i += kBlock) Block(from + i, flips).store(to + i);
  last.store(to + count - kBlock);
}

// The pixels of a staged line that are not borders.
struct Inside {
  uint8_t* to;
  size_t width;
};

// Fills the borders of a staged line.
Inside fill_borders(const Tensor& from, const Borders& b, size_t y, uint8_t zero, uint8_t* to) {
  const size_t channels = from.channels;
  if (y < b.top || y - b.top >= from.h) {
    memset(to, zero, b.w * channels);
    return {to, 0};
  }
  const size_t left = smaller(b.left, b.w), inside = smaller(from.w, b.w - left),
               right = b.w - left - inside;
  // What a store of 8 bytes writes of the inside is written again
  const auto fill = [&](uint8_t* border, size_t bytes, uint8_t* eight) {
    const uint64_t zeros = zero * (~(uint64_t)0 / 0xff);
    if (bytes > sizeof zeros || b.w * channels < sizeof zeros)
      memset(border, zero, bytes);
    else if (bytes)
      memcpy(eight, &zeros, sizeof zeros);
  };
  uint8_t* const end = to + b.w * channels;
  fill(to, left * channels, to);
  fill(end - right * channels, right * channels, end - sizeof(uint64_t));
  return {to + left * channels, inside};
}

}  // namespace

void nchw_to_nhwc(const Tensor& from, size_t image, size_t y, uint8_t* to) {
  transpose<false>(from, image, y, to);
}

void nhwc_to_nchw(const uint8_t* from, size_t image, size_t y, const Tensor& to) {
  transpose<true>(to, image, y, (uint8_t*)from);
}

void stage_line(const Tensor& from, const Quantizer& q, const Borders& b, size_t image, size_t y,
                uint8_t zero, uint8_t flip, uint8_t* line) {
  const size_t channels = from.channels;
  const auto [to, inside] = fill_borders(from, b, y, zero, line);
  if (inside == 0) return;
  y -= b.top;
  if (q.quantize) {
    uint8_t* const places[] = {to};
    convert_line<float>(from, image, y, inside, places,
                        [&](const float* values, size_t count, uint8_t* const* at) {
                          q.quantize(q.by, values, count, at[0]);
                        });
  } else if (from.nchw) {
    const size_t plane = from.h * from.w;
    transpose_line<uint8_t, false>(from.data + image * channels * plane + y * from.w, plane, to,
                                   inside, channels);
  } else {
    const uint8_t* const pixels = from.line(image, y);
    if (from.pixel == channels) return copy_turned(pixels, inside * channels, flip, to);
    for (size_t x = 0; x < inside; ++x)
      memcpy(to + x * channels, pixels + x * from.pixel, channels);
  }
  if (flip) copy_turned(to, inside * channels, flip, to);
}

void split_line(const Tensor& from, SplitS16Fn split, ElementType type, const Borders& b,
                size_t image, size_t y, uint8_t* high, uint8_t* low) {
  // The byte of a zero point is the flip itself
  S16Row row = {nullptr, 0, high_flip(type), low_flip(type), nullptr, nullptr};
  const Inside to_high = fill_borders(from, b, y, row.high_flip, high),
               to_low = fill_borders(from, b, y, row.low_flip, low);
  if (to_high.width == 0) return;
  uint8_t* const places[] = {to_high.to, to_low.to};
  convert_line<int16_t>(from, image, y - b.top, to_high.width, places,
                        [&](const int16_t* s16, size_t count, uint8_t* const* at) {
                          row.s16 = s16, row.depth = count;
                          row.high = at[0], row.low = at[1];
                          split(row);
                        });
}

}  // namespace octet
