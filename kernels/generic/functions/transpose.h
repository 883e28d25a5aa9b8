// SPDX-License-Identifier: Apache-2.0
// Transposes matrices of elements of 8, 16 or 32 bits: images between NCHW and NHWC.
#pragma once

#include "kernels/generic/functions/windows.h"

namespace octet {
namespace {

// Interleaving row r with row r + N/2, for all r, log2(N) times, transposes N x N elements. The
// loops have constant bounds and become interleaving instructions of vectors.
template <typename T, size_t N>
OCTET_LOOP void interleave(const T* __restrict from, T* __restrict to) {
#pragma GCC unroll 1
  for (size_t r = 0; r < N / 2; ++r)
    for (size_t i = 0; i < N; ++i) {
      to[2 * r * N + 2 * i] = from[r * N + i];
      to[2 * r * N + 2 * i + 1] = from[(r + N / 2) * N + i];
    }
}

constexpr size_t kTile = 16;

template <typename T>
inline void transpose_tile(T* tile, T* other) {
  interleave<T, kTile>(tile, other);
  interleave<T, kTile>(other, tile);
  interleave<T, kTile>(tile, other);
  interleave<T, kTile>(other, tile);
}

// to[c * to_line + r] = from[r * from_line + c], strides in elements.
template <typename T>
inline void transpose_matrix(const T* from, size_t from_line, T* to, size_t to_line, size_t rows,
                             size_t columns) {
  T tile[kTile * kTile] = {}, other[kTile * kTile];
  for (size_t r = 0; r < rows; r += kTile)
    for (size_t c = 0; c < columns; c += kTile) {
      const size_t high = rows - r < kTile ? rows - r : kTile;
      const size_t wide = columns - c < kTile ? columns - c : kTile;
      const T* const source = from + r * from_line + c;
      T* const target = to + c * to_line + r;
      if (wide == kTile)
        for (size_t i = 0; i < high; ++i)
          __builtin_memcpy(tile + i * kTile, source + i * from_line, kTile * sizeof(T));
      else
        for (size_t i = 0; i < high; ++i)
          __builtin_memcpy(tile + i * kTile, source + i * from_line, wide * sizeof(T));
      transpose_tile(tile, other);
      if (high == kTile)
        for (size_t i = 0; i < wide; ++i)
          __builtin_memcpy(target + i * to_line, tile + i * kTile, kTile * sizeof(T));
      else
        for (size_t i = 0; i < wide; ++i)
          __builtin_memcpy(target + i * to_line, tile + i * kTile, high * sizeof(T));
    }
}

// Few rows or few columns, whose tiles would be nearly empty: N planes to pixels of N channels, and
// back.
template <typename T, size_t N>
OCTET_LOOP void join_planes(const T* from, size_t from_line, T* __restrict to, size_t columns) {
  for (size_t c = 0; c < columns; ++c)
    for (size_t r = 0; r < N; ++r) to[c * N + r] = from[r * from_line + c];
}
template <typename T, size_t N>
OCTET_LOOP void part_planes(const T* from, T* __restrict to, size_t to_line, size_t rows) {
  for (size_t c = 0; c < N; ++c)
    for (size_t r = 0; r < rows; ++r) to[c * to_line + r] = from[r * N + c];
}

template <typename T>
inline void transpose_rows(const T* from, size_t from_line, T* to, size_t to_line, size_t rows,
                           size_t columns) {
  if (to_line == rows && rows == 3) return join_planes<T, 3>(from, from_line, to, columns);
  if (to_line == rows && rows == 4) return join_planes<T, 4>(from, from_line, to, columns);
  if (from_line == columns && columns == 3) return part_planes<T, 3>(from, to, to_line, rows);
  if (from_line == columns && columns == 4) return part_planes<T, 4>(from, to, to_line, rows);
  transpose_matrix(from, from_line, to, to_line, rows, columns);
}

// Planes whose elements do not lie side by side: a slice of a network's tensor.
template <typename T>
inline void transpose_scattered(const Transpose& f, const ImageCall& call) {
  const ImageLines &in = call.input, &out = call.output;
  const ImageLines &planes = f.to_nhwc ? in : out, &pixels = f.to_nhwc ? out : in;
  const size_t first = f.to_nhwc ? call.first * pixels.w : 0,
               end = f.to_nhwc ? call.end * pixels.w : planes.w;
  for (size_t c = f.to_nhwc ? 0 : call.first; c < (f.to_nhwc ? planes.h : call.end); ++c)
    for (size_t i = first; i < end; ++i) {
      T* const plane = (T*)(line_of(planes, c) + i * planes.pixel);
      T* const pixel = (T*)(line_of(pixels, i / pixels.w) + i % pixels.w * pixels.pixel) + c;
      if (f.to_nhwc)
        *pixel = *plane;
      else
        *plane = *pixel;
    }
}

template <typename T>
inline void transpose_of(const Transpose& f, const ImageCall& call) {
  const ImageLines &in = call.input, &out = call.output;
  const size_t e = sizeof(T);
  if ((f.to_nhwc ? in : out).pixel != e) return transpose_scattered<T>(f, call);
  if (f.to_nhwc) {
    const bool dense = out.line == out.w * out.pixel;
    for (size_t y = call.first, lines; y < call.end; y += lines) {
      lines = dense ? lines_together(out, y, call.end) : 1;
      transpose_rows((const T*)in.data + y * out.w, in.line / e, (T*)line_of(out, y), out.pixel / e,
                     out.channels, lines * out.w);
    }
    return;
  }
  const bool dense = in.line == in.w * in.pixel;
  const size_t lines = dense ? in.h : 1;
  for (size_t c = call.first, planes; c < call.end; c += planes) {
    planes = lines_together(out, c, call.end);
    for (size_t y = 0; y < in.h; y += lines)
      transpose_rows((const T*)line_of(in, y) + c, in.pixel / e, (T*)line_of(out, c) + y * in.w,
                     out.line / e, lines * in.w, planes);
  }
}

// Of whole images, whose lines lie in their order.
inline void transpose(const Transpose& f, const ImageCall& call) {
  if (f.element == 1)
    transpose_of<uint8_t>(f, call);
  else if (f.element == 2)
    transpose_of<uint16_t>(f, call);
  else
    transpose_of<uint32_t>(f, call);
}

}  // namespace
}  // namespace octet
