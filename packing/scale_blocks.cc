// SPDX-License-Identifier: Apache-2.0
// Plans, writes and reads the blob of matrices in scale blocks.
#include "packing/scale_blocks.h"

#include <string.h>

#include "kernels/core/half.h"
#include "packing/int4.h"

namespace octet {
namespace {

constexpr size_t kColumns = kScaleBlockColumns;
constexpr uint8_t kS8 = 1, kU8 = 2;  // types as headers have them

// Bytes from one matrix to the next.
struct Strides {
  size_t sums, panels, minimums;
  bool fit;
  Strides(const ScaleBlocksGeometry& g) {
    const ScaleBlocks blocks = scale_blocks_of(g);
    const size_t count = divide_up((size_t)g.n, kColumns);
    // Sums of a block take fewer bytes than its weights and scales, and so do its minimums
    fit =
        !__builtin_mul_overflow(count, blocks.panel_bytes(), &panels) && panels <= PTRDIFF_MAX / 2;
    panels = fit ? round_up(panels, kAlignment) : 0;
    sums = fit ? round_up(count * blocks.sums_bytes(), kAlignment) : 0;
    minimums = fit && g.has_minimums ? count * blocks.count * kColumns * sizeof(float) : 0;
  }
};

bool plan(const Container& c, Container* planned) {
  return plan_scale_blocks(*c.format, c.header.type, c.read_geometry<ScaleBlocksGeometry>(),
                           planned);
}

// The same of weights of 8 bits. to: zeros, which stand for -128, of which nothing comes.
void write_bytes(const RhsView& rhs, size_t column, size_t columns, size_t k, size_t depth,
                 uint8_t* to, int16_t* sums) {
  const uint8_t flip = rhs.type == ElementType::kS8 ? 0x80 : 0;
  for (size_t j = 0; j < columns; ++j) {
    const uint8_t* const from = rhs.data + (column + j) * rhs.n_stride + k * rhs.k_stride;
    int32_t sum = 0;
    for (size_t i = 0; i < depth; ++i) {
      const uint8_t more = from[i * rhs.k_stride] ^ flip;
      to[i / 4 * 4 * kColumns + j * 4 + i % 4] = more;
      sum += more - 128;
    }
    sums[j] = (int16_t)sum;
  }
}

// Writes the weights of a block of some columns of a panel, and their sums.
void write_weights(const RhsView& rhs, size_t column, size_t columns, size_t k, size_t depth,
                   uint8_t* to, int16_t* sums) {
  const uint8_t flip = rhs.type == ElementType::kS4 ? 8 : 0;
  uint8_t bytes[kColumns * kUnpackedSteps];
  for (size_t end = k + depth, steps; k < end; k += steps) {
    steps = smaller(kUnpackedSteps, end - k);
    unpack_int4(rhs, column, columns, k, steps, bytes);
    const LaneView lanes = {bytes, kUnpackedSteps, 1, columns, steps, flip};
    pack_int4_groups(kScaleBlockLayout, lanes, kColumns, to);
    to += kColumns / 2 * steps;
    for (size_t j = 0; j < columns; ++j) {
      int32_t sum = (int32_t)steps * flip;
      for (size_t i = 0; i < steps; ++i) sum += (int8_t)bytes[j * kUnpackedSteps + i];
      sums[j] = (int16_t)(sums[j] + sum);
    }
  }
}

float value_at(const void* values, bool f16, size_t i) {
  return f16 ? float_of_half(((const uint16_t*)values)[i]) : ((const float*)values)[i];
}

void write_panel(const ScaleBlocks& blocks, const RhsView& rhs, const ScaleView& scales,
                 size_t column, uint8_t* panel, int16_t* sums, float* minimums) {
  const size_t columns = smaller(kColumns, rhs.n - column), scale = blocks.f16 ? 2 : 4;
  const int32_t shift = rhs.type == ElementType::kS4 ? 0 : -8;
  memset(panel, 0, blocks.panel_bytes());
  memset(sums, 0, blocks.sums_bytes());
  for (size_t b = 0; b < blocks.count; ++b, sums += kColumns) {
    (blocks.bytes ? write_bytes : write_weights)(rhs, column, columns, b * blocks.depth,
                                                 blocks.depth, panel, sums);
    panel += blocks.weight_bytes();
    for (size_t j = 0; j < columns; ++j) {
      const size_t from = (column + j) * blocks.count + b;
      memcpy(panel + j * scale, (const uint8_t*)scales.scales + from * scale, scale);
      if (blocks.zero_points)
        panel[blocks.scale_bytes() + j] =
            (uint8_t)(scales.zero_points[scales.per_column ? column + j : from] + shift);
    }
    panel += blocks.block_bytes() - blocks.weight_bytes();
    for (size_t j = 0; scales.minimums && j < kColumns; ++j) {
      const size_t from = (column + j) * blocks.count + b;
      minimums[b * kColumns + j] = j < columns ? value_at(scales.minimums, blocks.f16, from) : 0;
    }
  }
}

}  // namespace

ScaleBlocks scale_blocks_of(const ScaleBlocksGeometry& g) {
  return {g.depth,     (size_t)(g.k / g.depth), g.f16 != 0, g.has_zeros != 0, g.zero_point,
          g.bytes != 0};
}

void pack_scale_blocks(const ScaleBlocks& blocks, const RhsView& rhs, const ScaleView& scales,
                       uint8_t* panels, int16_t* sums, float* minimums) {
  for (size_t column = 0; column < rhs.n; column += kColumns)
    write_panel(blocks, rhs, scales, column, panels + column / kColumns * blocks.panel_bytes(),
                sums + column * blocks.count,
                minimums ? minimums + column * blocks.count : nullptr);
}

bool plan_scale_blocks(const WeightFormat& format, uint8_t type, const ScaleBlocksGeometry& g,
                       Container* c) {
  const size_t most = g.bytes ? kMostByteBlock : kMostScaleBlock;
  if (!(format.layout == layout_of(g)) || !g.n || !g.k || !g.count || g.depth % kLeastScaleBlock ||
      !g.depth || g.depth > most || g.k % g.depth || g.f16 > 1 || g.has_zeros > (g.bytes ? 0 : 1) ||
      g.zero_point > (g.bytes ? 0 : 15) || g.bytes > 1 || g.has_minimums > 1 ||
      (type == kS8 || type == kU8) != (g.bytes == 1) || g.k > (uint64_t)INT32_MAX / 255 ||
      g.n > PTRDIFF_MAX / 64 || g.count > PTRDIFF_MAX)
    return false;
  const Strides strides(g);
  size_t sums, panels, minimums;
  if (!strides.fit || __builtin_mul_overflow((size_t)g.count, strides.sums, &sums) ||
      __builtin_mul_overflow((size_t)g.count, strides.panels, &panels) ||
      __builtin_mul_overflow((size_t)g.count, strides.minimums, &minimums))
    return false;
  *c = begin_container(BlobKind::kScaleBlocks, format, type, &g, sizeof g);
  return add_section(SectionId::kSums, sums, c) && add_section(SectionId::kWeights, panels, c) &&
         (!minimums || add_section(SectionId::kMinimums, minimums, c));
}

void write_scale_blocks(Container* c, RhsView rhs, size_t matrix_stride, ScaleView scales,
                        void* blob) {
  const ScaleBlocksGeometry g = c->read_geometry<ScaleBlocksGeometry>();
  const ScaleBlocks blocks = scale_blocks_of(g);
  const Strides strides(g);
  uint8_t* sums = section_of(*c, SectionId::kSums, blob);
  uint8_t* panels = section_of(*c, SectionId::kWeights, blob);
  uint8_t* minimums = section_of(*c, SectionId::kMinimums, blob);
  const size_t per_matrix = rhs.n * blocks.count, count = divide_up(rhs.n, kColumns),
               used = count * blocks.panel_bytes(), used_sums = count * blocks.sums_bytes();
  for (size_t i = 0; i < g.count; ++i, rhs.skip(matrix_stride)) {
    pack_scale_blocks(blocks, rhs, scales, panels, (int16_t*)sums, (float*)minimums);
    memset(panels + used, 0, strides.panels - used);
    memset(sums + used_sums, 0, strides.sums - used_sums);
    sums += strides.sums;
    panels += strides.panels;
    minimums += strides.minimums;
    const size_t scale_bytes = per_matrix * (blocks.f16 ? 2 : 4);
    scales.scales = (const uint8_t*)scales.scales + scale_bytes;
    if (scales.minimums) scales.minimums = (const uint8_t*)scales.minimums + scale_bytes;
    if (blocks.zero_points && !scales.per_column) scales.zero_points += per_matrix;
  }
  seal_container(c, blob);
}

BlobProblem check_scale_blocks(const void* blob, size_t bytes,
                               const WeightFormat* (*find_format)(uint16_t), Container* c) {
  return check_container(blob, bytes, find_format, BlobKind::kScaleBlocks, plan, c);
}

PackedScaleBlocks scale_blocks_at(const Container& c, const void* blob, size_t index) {
  if (c.header.outline) return {};
  const Strides strides(c.read_geometry<ScaleBlocksGeometry>());
  const uint8_t* const minimums = section_of(c, SectionId::kMinimums, blob);
  return {section_of(c, SectionId::kWeights, blob) + index * strides.panels,
          (const int16_t*)(section_of(c, SectionId::kSums, blob) + index * strides.sums),
          minimums ? (const float*)(minimums + index * strides.minimums) : nullptr};
}

}  // namespace octet
