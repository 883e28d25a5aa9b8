// SPDX-License-Identifier: Apache-2.0
// Plans, writes and reads the blob of matrices.
#include "packing/matrix_blob.h"

#include <string.h>

namespace octet {
namespace {

// Bytes from one matrix to the next, in the sums and in the weights.
struct Strides {
  size_t array, weights;  // array: one s32 per lane
  Strides(const RhsLayout& layout, size_t n, size_t packed)
      : array(round_up(layout.lanes(n) * sizeof(int32_t), kAlignment)),
        weights(round_up(packed, kAlignment)) {}
};

Strides strides_of(const Container& c) {
  const MatricesGeometry g = c.read_geometry<MatricesGeometry>();
  const RhsLayout& layout = c.format->layout;
  return {layout, (size_t)g.n, panel_bytes(layout, (size_t)g.n, (size_t)g.k)};
}

bool plan(const Container& c, Container* planned) {
  const MatricesGeometry g = c.read_geometry<MatricesGeometry>();
  return plan_matrices(*c.format, c.header.type, (size_t)g.n, (size_t)g.k, (size_t)g.count,
                       c.find(SectionId::kZeroPoints), planned);
}

}  // namespace

bool plan_matrices(const WeightFormat& format, uint8_t type, size_t n, size_t k, size_t count,
                   bool zero_points, Container* c) {
  // Sparse formats pack w - zero_point, so their blobs have no zero points
  if (!format.packing || !n || !k || !count || (zero_points && format.layout.sparse()))
    return false;
  const size_t packed = panel_bytes(format.layout, n, k);
  // More than all roundings below add
  constexpr size_t kSlack = 1024;
  if (!packed || packed > PTRDIFF_MAX - kSlack || n > PTRDIFF_MAX / 16 - kSlack) return false;
  const Strides strides(format.layout, n, packed);
  size_t sums, weights;
  if (__builtin_mul_overflow(count, 2 * strides.array, &sums) ||
      __builtin_mul_overflow(count, strides.weights, &weights))
    return false;
  MatricesGeometry g = {};
  g.n = n;
  g.k = k;
  g.count = count;
  *c = begin_container(BlobKind::kMatrices, format, type, &g, sizeof g);
  return (!zero_points || add_section(SectionId::kZeroPoints, strides.array, c)) &&
         add_section(SectionId::kSums, sums, c) && add_section(SectionId::kWeights, weights, c);
}

void write_matrices(Container* c, RhsView rhs, size_t matrix_stride, void* blob) {
  const MatricesGeometry g = c->read_geometry<MatricesGeometry>();
  const RhsLayout& layout = c->format->layout;
  const Packing& packing = *c->format->packing;
  const Strides strides = strides_of(*c);
  if (int32_t* zero_points = (int32_t*)section_of(*c, SectionId::kZeroPoints, blob)) {
    memset(zero_points, 0, strides.array);
    for (size_t n = 0; n < rhs.n; ++n)
      zero_points[n] = rhs.zero_point(n) + type_shift(rhs.type, layout.element_type);
  }
  uint8_t* sums = section_of(*c, SectionId::kSums, blob);
  uint8_t* weights = section_of(*c, SectionId::kWeights, blob);
  const size_t used = panel_bytes(layout, rhs.n, rhs.k);
  for (size_t i = 0; i < g.count; ++i, rhs.skip(matrix_stride)) {
    memset(sums, 0, 2 * strides.array);
    const ColumnSums of_columns = {(int32_t*)sums, (int32_t*)(sums + strides.array)};
    const bool has_int8_min = sum_columns(layout, rhs, 0, rhs.n, of_columns);
    packing.pack(layout, rhs, 0, rhs.n, weights);
    c->header.has_int8_min |=
        packing.holds_int8_min ? packing.holds_int8_min(layout, weights, used) : has_int8_min;
    memset(weights + used, 0, strides.weights - used);
    sums += 2 * strides.array;
    weights += strides.weights;
  }
  seal_container(c, blob);
}

BlobProblem check_matrices(const void* blob, size_t bytes,
                           const WeightFormat* (*find_format)(uint16_t), Container* c) {
  return check_container(blob, bytes, find_format, BlobKind::kMatrices, plan, c);
}

PackedPanels panels_of(const Container& c, const void* blob) {
  const MatricesGeometry g = c.read_geometry<MatricesGeometry>();
  return {c.format->layout.lanes((size_t)g.n),
          1,
          (size_t)g.k,
          (size_t)g.count,
          strides_of(c).weights,
          section_of(c, SectionId::kWeights, blob)};
}

PackedRhs matrix_of(const Container& c, const void* blob, size_t index) {
  if (c.header.outline) return {};
  const Strides strides = strides_of(c);
  const uint8_t* const sums = section_of(c, SectionId::kSums, blob) + index * 2 * strides.array;
  return {section_of(c, SectionId::kWeights, blob) + index * strides.weights, (const int32_t*)sums,
          (const int32_t*)(sums + strides.array),
          (const int32_t*)section_of(c, SectionId::kZeroPoints, blob)};
}

}  // namespace octet
