// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits: a tier's kernel of int8 multiplies them after a decoder made its operands. A
// kernel of 4 bits is a row of constants beside such a kernel, and a decoder.
//
// The layout is that of the int8 kernel with twice the depth steps per group: of a panel's group,
// the low halves of bytes are one group of int8, the high halves the next one, as two's complement.
// So whatever the order within a group, one loop decodes it.
#pragma once

#include "kernels/core/int4_part.h"
#include "kernels/core/micro_kernel.h"

namespace octet {

constexpr RhsLayout int4_layout(const RhsLayout& of) {
  return {of.width, of.step, (uint16_t)(2 * of.kr), of.element_type, 4};
}

// Multiplies a tile by `kernel`, of 4 bits, through `operands`, the kernel that reads what its
// decoder writes. The tile is of a matrix: it has one tap, and rows at a stride. Weights that are
// not decoded yet are decoded part by part, into the L1 cache.
void multiply_int4(const MicroKernel& kernel, const MicroKernel& operands, const Tile& tile);

// Decoder::room of a kernel: a part's weights, and its sums.
constexpr uint32_t int4_room(size_t tile_elements) {
  return kInt4PartBytes + (uint32_t)(tile_elements * sizeof(int32_t));
}

namespace {

// MicroKernel::multiply and ::gather of such kernels.
template <const MicroKernel& kernel, const MicroKernel& operands>
void multiply_int4_by(const Tile& tile) {
  multiply_int4(kernel, operands, tile);
}
template <const MicroKernel& operands>
void gather_by(const Rows& rows, size_t lanes, void* panel) {
  operands.gather(rows, lanes, panel);
}

// Decodes groups whose operands are int8. bytes: of a group of a full panel.
template <size_t bytes>
void decode_int4(const uint8_t* rhs, size_t rhs_stride, size_t groups, uint8_t* to) {
  for (; groups; --groups, rhs += rhs_stride, to += 2 * bytes)
    for (size_t i = 0; i < bytes && i < rhs_stride; ++i) {
      to[i] = (uint8_t)((int8_t)(rhs[i] << 4) >> 4);
      to[bytes + i] = (uint8_t)((int8_t)rhs[i] >> 4);
    }
}

}  // namespace
}  // namespace octet
