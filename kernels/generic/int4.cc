// SPDX-License-Identifier: Apache-2.0
// Multiplies tiles by weights of 4 bits through a kernel of int8.
#include "kernels/generic/int4.h"

#include "kernels/core/assert.h"

namespace octet {

void multiply_int4(const MicroKernel& kernel, const MicroKernel& operands, const Tile& t) {
  OCTET_ASSERT(t.taps == 1 && !t.lhs_rows);
  if (t.rhs_decoded) return operands.multiply(t);
  const RhsLayout& layout = kernel.rhs_layout;
  const Decoder& decoder = kernel.decoder;
  int32_t* const sums = (int32_t*)t.room;
  uint8_t* const decoded = t.room + decoder.room - kInt4PartBytes;
  const size_t lanes = smaller(kernel.nr, layout.lanes(t.cols)),
               panels = divide_up(lanes, layout.width),
               most = kInt4PartBytes / (panels * decoder.group_bytes) * layout.kr,
               lhs_step = kernel.gather ? round_up_pow2(t.rows, kernel.lhs_lanes_step) *
                                              kernel.lhs_element_bytes
                                        : 1;
  Tile part = t;
  part.rhs = decoded;
  part.rhs_decoded = true;
  part.rhs_stride = decoder.operand_stride;
  part.cols = lanes;
  part.dst = sums;
  part.dst_stride = lanes * sizeof(int32_t);
  part.scale = part.row_scale = nullptr;
  for (size_t k = 0; k < t.depth; k += part.depth) {
    part.depth = smaller(most, t.depth - k);
    const size_t groups = divide_up(part.depth, layout.kr);
    decode_panels(kernel, t.rhs + k / layout.kr * t.rhs_stride, t.rhs_stride, t.rhs_panel_stride,
                  lanes, groups, decoded);
    part.rhs_panel_stride = groups * decoder.group_bytes;
    part.lhs = (const uint8_t*)t.lhs + k * lhs_step;
    if (k + part.depth == t.depth) {
      part.cols = t.cols;
      part.dst = t.dst;
      part.dst_stride = t.dst_stride;
      part.scale = t.scale;
      part.row_scale = t.row_scale;
    }
    operands.multiply(part);
    part.init = sums;
    part.init_stride = lanes;
    part.row_init = part.row_factors = part.column_factors = nullptr;
  }
}

}  // namespace octet
