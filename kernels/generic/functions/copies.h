// SPDX-License-Identifier: Apache-2.0
// Copies: a part of an image into a filled one (PAD, SLICE, SPLIT), and the bytes of an image in
// another shape.
#pragma once

#include "kernels/generic/functions/windows.h"

namespace octet {
namespace {

inline void fill_bytes(const Place& f, uint8_t* to, size_t bytes) {
  if (f.element == 1) {
    __builtin_memset(to, f.fill[0], bytes);
    return;
  }
  for (size_t i = 0; i < bytes; i += f.element) __builtin_memcpy(to + i, f.fill, f.element);
}

// The part [begin, end) of an axis of `out` places that an input of `in` places covers from `at`.
inline Span covered(ptrdiff_t at, size_t in, size_t out) {
  const ptrdiff_t begin = at > 0 ? at : 0, end = at + (ptrdiff_t)in;
  const size_t last = end < 0 ? 0 : (size_t)end < out ? (size_t)end : out;
  return {(size_t)begin < last ? (size_t)begin : last, last};
}

inline void place(const Place& f, const ImageCall& call) {
  const ImageLines &in = call.input, &out = call.output;
  const size_t e = f.element, bytes = out.channels * e;
  const Span rows = covered(f.top, in.h, out.h), columns = covered(f.left, in.w, out.w),
             channels = covered(f.front, in.channels, out.channels);
  const bool whole = in.channels == out.channels && f.front == 0;
  const bool dense = out.pixel == bytes, runs = dense && whole && in.pixel == bytes;
  const size_t count = (columns.end - columns.begin) * bytes;
  for (size_t y = call.first; y < call.end; ++y) {
    uint8_t* const to = line_of(out, y);
    const bool covers = y >= rows.begin && y < rows.end && columns.begin < columns.end;
    if (covers && runs) {
      fill_bytes(f, to, columns.begin * bytes);
      __builtin_memcpy(to + columns.begin * bytes,
                       line_of(in, (size_t)((ptrdiff_t)y - f.top)) +
                           (size_t)((ptrdiff_t)columns.begin - f.left) * in.pixel,
                       count);
      fill_bytes(f, to + columns.end * bytes, (out.w - columns.end) * bytes);
      continue;
    }
    if (dense && !covers) {
      fill_bytes(f, to, out.w * bytes);
      continue;
    }
    for (size_t x = 0; x < out.w; ++x) {
      uint8_t* const pixel = to + x * out.pixel;
      if (!covers || x < columns.begin || x >= columns.end || channels.begin == channels.end) {
        fill_bytes(f, pixel, bytes);
        continue;
      }
      const uint8_t* const from =
          line_of(in, (size_t)((ptrdiff_t)y - f.top)) + (size_t)((ptrdiff_t)x - f.left) * in.pixel;
      fill_bytes(f, pixel, channels.begin * e);
      __builtin_memcpy(pixel + channels.begin * e,
                       from + (size_t)((ptrdiff_t)channels.begin - f.front) * e,
                       (channels.end - channels.begin) * e);
      fill_bytes(f, pixel + channels.end * e, bytes - channels.end * e);
    }
  }
}

// The bytes of an image from `at` on, in the order of its elements, that lie side by side.
inline uint8_t* run_at(const ImageLines& image, size_t bytes, size_t at, size_t* run) {
  const size_t pixel = at / bytes, y = pixel / image.w, x = pixel % image.w, offset = at % bytes;
  *run = (image.pixel == bytes ? (image.w - x) * bytes : bytes) - offset;
  return line_of(image, y) + x * image.pixel + offset;
}

inline void reshape(const Reshape& f, const ImageCall& call) {
  const ImageLines &in = call.input, &out = call.output;
  const size_t in_bytes = in.channels * f.element, out_bytes = out.channels * f.element;
  const size_t end = call.end * out.w * out_bytes;
  for (size_t at = call.first * out.w * out_bytes; at < end;) {
    size_t run, in_run;
    uint8_t* const to = run_at(out, out_bytes, at, &run);
    const uint8_t* const from = run_at(in, in_bytes, at, &in_run);
    if (in_run < run) run = in_run;
    __builtin_memcpy(to, from, run);
    at += run;
  }
}

}  // namespace
}  // namespace octet
