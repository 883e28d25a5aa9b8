// SPDX-License-Identifier: Apache-2.0
// Walks over the windows of an image's outputs, in chunks of channels.
#pragma once

#include "kernels/core/strict_float.h"
#include "kernels/generic/functions/image_function.h"

namespace octet {
namespace {

constexpr size_t kChunk = 256;  // channels, whose sums stay in the first cache level

inline uint8_t* line_of(const ImageLines& image, size_t y) {
  return (uint8_t*)octet_network_line(&image, y);
}

// The lines of [y, end) that lie one behind the other: in a ring those up to its end.
inline size_t lines_together(const ImageLines& image, size_t y, size_t end) {
  const size_t left = image.ring ? image.ring - (image.first + y) % image.ring : end - y;
  return left < end - y ? left : end - y;
}

struct Span {
  size_t begin, end;
};

// The part of a window that lies in the image.
inline Span span_of(size_t out, size_t kernel, size_t stride, size_t pad, size_t in) {
  const size_t at = out * stride, end = at + kernel > pad ? at + kernel - pad : 0;
  return {at > pad ? at - pad : 0, end < in ? end : in};
}

// The bytes from pixel x on that a line has for certain.
inline size_t room_from(const ImageLines& image, size_t x, size_t bytes) {
  return (image.w - 1 - x) * image.pixel + bytes;
}

// Few channels leave a part of each vector idle or to a scalar loop. Where the output's pixels are
// dense, a loop may run into the next pixel, which is computed later: up to a whole vector.
inline size_t with_overrun(size_t bytes, size_t room) {
  const size_t rounded = (bytes + 15) & ~(size_t)15;
  return rounded < room ? rounded : room;
}

// The channels that loops for output pixel x take where they read input pixels below `in_end`. With
// gaps between the input's pixels there is no overrun: another thread may write these.
inline size_t run_length(const ImageCall& call, size_t x, size_t in_end) {
  const ImageLines &in = call.input, &out = call.output;
  if (in.pixel != in.channels || out.pixel != out.channels || out.channels >= kChunk)
    return out.channels;
  const size_t room = room_from(in, in_end - 1, in.channels),
               out_room = room_from(out, x, out.channels);
  return with_overrun(out.channels, room < out_room ? room : out_room);
}

// Calls take(y, x, rows, columns, channels) for each output of the call: its window's part in the
// image, and the channels to compute.
template <typename Take>
inline void for_each_window(const ImageCall& call, const ImageWindow& w, const Take& take) {
  const ImageLines& in = call.input;
  for (size_t y = call.first; y < call.end; ++y) {
    const Span rows = span_of(y, w.kernel_h, w.stride_h, w.pad_top, in.h);
    uint8_t* const line = line_of(call.output, y);
    for (size_t x = 0; x < call.output.w; ++x) {
      const Span columns = span_of(x, w.kernel_w, w.stride_w, w.pad_left, in.w);
      take(line + x * call.output.pixel, rows, columns, run_length(call, x, columns.end));
    }
  }
}

// Calls take(pointers, count) for the pixels of a window in their order, at most N at a time.
template <size_t N, typename Take>
inline void for_each_group(const ImageLines& in, const Span& rows, const Span& columns,
                           const Take& take) {
  const uint8_t* pixels[N];
  size_t count = 0;
  for (size_t y = rows.begin; y < rows.end; ++y) {
    const uint8_t* pixel = line_of(in, y) + columns.begin * in.pixel;
    for (size_t x = columns.begin; x < columns.end; ++x, pixel += in.pixel) {
      pixels[count++] = pixel;
      if (count < N) continue;
      take(pixels, count);
      count = 0;
    }
  }
  if (count) take(pixels, count);
}

// Calls chunk(first, channels) for chunks of at most kChunk of n channels.
template <typename Chunk>
inline void for_each_chunk(size_t n, const Chunk& chunk) {
  for (size_t first = 0; first < n; first += kChunk)
    chunk(first, n - first < kChunk ? n - first : kChunk);
}

// Loops are of unsigned bytes, for s8 with the highest bit flipped: an order and, less kSignedZero,
// the same numbers.
constexpr uint8_t kFlip = 0x80;
constexpr int32_t kSignedZero = 128;

struct Bytes {
  uint8_t flip;
  int32_t zero, least, most;
  explicit Bytes(bool is_signed)
      : flip(is_signed ? kFlip : 0),
        zero(is_signed ? kSignedZero : 0),
        least(-zero),
        most(255 - zero) {}
  int32_t operator()(uint8_t byte) const { return (byte ^ flip) - zero; }
};

// Compiled once, as a whole: the loop of a few lines that takes the time.
#define OCTET_LOOP __attribute__((noinline))

}  // namespace
}  // namespace octet
