// SPDX-License-Identifier: Apache-2.0
// The blob of matrices of one size, for products. Its sections (packing/container.h):
//
//   zero points, s32[lanes], if any | per matrix: positive s32[lanes], negative s32[lanes]
//   | per matrix: the weights
//
// Each part begins at a multiple of 64 bytes. lanes = n rounded up to the layout's step.
#pragma once

#include "packing/container.h"

namespace octet {

struct MatricesGeometry {
  uint64_t n, k, count;
  uint8_t reserved[40];
};
static_assert(sizeof(MatricesGeometry) == 64, "of the same size on every machine");

// Lays out the sections. False if the format cannot hold such matrices, or if a size does not fit
// ptrdiff_t.
bool plan_matrices(const WeightFormat& format, uint8_t type, size_t n, size_t k, size_t count,
                   bool zero_points, Container* container);

// Writes the blob that plan_matrices laid out. matrix_stride: elements from one of the caller's
// matrices to the next.
void write_matrices(Container* container, RhsView rhs, size_t matrix_stride, void* blob);

BlobProblem check_matrices(const void* blob, size_t bytes,
                           const WeightFormat* (*find_format)(uint16_t), Container* container);
// The weights of all matrices.
PackedPanels panels_of(const Container& container, const void* blob);
// Nulls in an outline.
PackedRhs matrix_of(const Container& container, const void* blob, size_t index);

}  // namespace octet
