// SPDX-License-Identifier: Apache-2.0
// The blob of matrices of 4 or 8 bits in scale blocks (kernels/core/scale_blocks.h), for products.
// Its sections (packing/container.h):
//
//   per matrix: the sum of each block's weights, s16, 16 per block, panel after panel
//   | per matrix: the panels
//   | if there are any, per matrix: the minimum of each block, f32, in the order of the sums
//
// Each part begins at a multiple of 64 bytes.
#pragma once

#include "kernels/core/scale_blocks.h"
#include "packing/container.h"

namespace octet {

struct ScaleBlocksGeometry {
  uint64_t n, k, count;
  uint32_t depth;      // of a block
  uint8_t f16;         // scales, else f32
  uint8_t has_zeros;   // the panels have zero points
  uint8_t zero_point;  // 0 to 15, of weights from 0 to 15
  uint8_t bytes;       // weights are s8, or u8 less 128
  uint8_t has_minimums;
  uint8_t reserved[31];
};
static_assert(sizeof(ScaleBlocksGeometry) == 64, "of the same size on every machine");

// A matrix's scales, minimums and zero points, [column][block].
struct ScaleView {
  const void* scales;    // finite
  const void* minimums;  // finite, of the type of the scales, or null
  // In the weights' own type; null where ScaleBlocks has no zero points
  const int32_t* zero_points;
  bool per_column;  // the zero points are [column], of all matrices
};

// Of the weights in the blob.
inline const RhsLayout& layout_of(const ScaleBlocksGeometry& geometry) {
  return geometry.bytes ? kByteBlockLayout : kScaleBlockLayout;
}

ScaleBlocks scale_blocks_of(const ScaleBlocksGeometry& geometry);

// Packs one matrix into panels, and writes the sums of each block's weights, and the minimums if
// there are any.
void pack_scale_blocks(const ScaleBlocks& blocks, const RhsView& rhs, const ScaleView& scales,
                       uint8_t* panels, int16_t* sums, float* minimums);

// Lays out the sections. False if there are no such blocks, or if a size does not fit ptrdiff_t.
bool plan_scale_blocks(const WeightFormat& format, uint8_t type,
                       const ScaleBlocksGeometry& geometry, Container* container);

// Writes the blob that plan_scale_blocks laid out. matrix_stride: elements from one of the caller's
// matrices to the next.
void write_scale_blocks(Container* container, RhsView rhs, size_t matrix_stride, ScaleView scales,
                        void* blob);

BlobProblem check_scale_blocks(const void* blob, size_t bytes,
                               const WeightFormat* (*find_format)(uint16_t), Container* container);

// One matrix as a kernel reads it.
struct PackedScaleBlocks {
  const uint8_t* panels;
  const int16_t* column_sums;
  const float* minimums;  // or null
};
PackedScaleBlocks scale_blocks_at(const Container& container, const void* blob, size_t index);

}  // namespace octet
