// SPDX-License-Identifier: Apache-2.0
// Describes work on rows of the lhs before they are multiplied: gathering, summing, quantizing and
// copying. Each is one pass over memory, compiled once per tier from kernels/generic.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/strict_float.h"

namespace octet {

// Rows of bytes in the caller's tensor or in the workspace. flip is xor-ed to every byte: 0x80
// converts between s8 and u8, 0 changes nothing.
struct Rows {
  const uint8_t* data;
  size_t stride;  // bytes
  size_t rows, depth;
  uint8_t flip;
  const uint8_t* const* pointers = nullptr;  // one per row, instead of data and stride

  const uint8_t* row(size_t i) const { return pointers ? pointers[i] : data + i * stride; }
};

// Copies rows into one panel of `lanes` >= rows lanes in the kernel's lhs layout. Missing lanes and
// depth are zero.
using GatherFn = void (*)(const Rows& rows, size_t lanes, void* panel);

// Copies rows to `to`, `stride` bytes apart, each followed by zeros up to a whole group of the
// kernel's depth steps.
using CopyRowsFn = void (*)(const Rows& rows, size_t stride, uint8_t* to);

// sums[i] = sum of row i's bytes after the flip, read as s8 or u8.
using RowSumFn = void (*)(const Rows& rows, bool is_signed, int32_t* sums);

// Rows of f32; strides in elements.
struct FloatRows {
  const float* data;
  size_t stride;
  size_t rows, depth;
};

struct RowQuant {
  float scale;
  int32_t zero_point;
};
// Quantizes each row of f32 by itself to s8 (symmetric) or u8 (asymmetric), `stride` bytes from one
// to the next, and writes its scale and, unless zero_points is null, its zero point. A row with NaN
// or infinity gets the scale NaN and zeros. There is at least one row.
using QuantizeRowsFn = void (*)(const FloatRows& rows, bool asymmetric, uint8_t* out, size_t stride,
                                float* scales, int32_t* zero_points);

// The two halves of QuantizeRowsFn. MeasureRowsFn finds one scale and zero point for rows that are
// quantized together. QuantizeFloatsFn quantizes, saturates to [lo, hi] and maps NaN to the zero
// point.
using MeasureRowsFn = RowQuant (*)(const FloatRows& rows, bool asymmetric);
// The least and the most of the rows' floats and 0, in the order of their bits, where NaN is beyond
// infinity: all that MeasureRowsFn needs of a part of the rows.
struct FloatEnds {
  float least, most;
};
using FindEndsFn = FloatEnds (*)(const FloatRows& rows);
struct Quantization {
  float scale;
  int32_t zero_point, lo, hi;
};
using QuantizeFloatsFn = void (*)(const Quantization& by, const float* x, size_t count,
                                  uint8_t* out);
constexpr Quantization dynamic_quantization(RowQuant q, bool asymmetric) {
  return {q.scale, q.zero_point, asymmetric ? 0 : -127, asymmetric ? 255 : 127};
}

// Copies `count` windows, each of `lines` runs of `bytes` that become neighbours. It may read up to
// kCopySlack bytes beyond each run and write as many beyond the last run of a window.
constexpr size_t kCopySlack = 32;
struct Windows {
  const uint8_t* from;
  size_t step, line;  // bytes from a window to the next, and from a run to the next
  size_t lines, bytes;
  uint8_t* to;
  size_t stride;  // bytes between the copied windows
  size_t count;
};
using CopyWindowsFn = void (*)(const Windows& windows);

}  // namespace octet
