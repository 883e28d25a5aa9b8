// Multiplies tiles by weights of 4 bits through a kernel of int8.
#include "kernels/generic/int4.h"

#include "kernels/core/assert.h"
#include "kernels/core/limits.h"

namespace octet {

void multiply_int4(const MicroKernel& kernel, const MicroKernel& operands, const Tile& t) {
  const RhsLayout& layout = kernel.rhs_layout;
  const Decoder& decoder = kernel.decoder;
  // The operands of a tap may end with a group that the int8 kernel does not expect
  const size_t groups = divide_up(t.depth, layout.kr),
               expected = divide_up(t.depth, operands.rhs_layout.kr) * operands.rhs_layout.kr;
  if (t.rhs_decoded && (t.taps == 1 || expected == groups * layout.kr)) return operands.multiply(t);

  int32_t* const sums = (int32_t*)t.room;
  uint8_t* const decoded = t.room + kernel.decoder.room - kInt4PartBytes;
  const size_t lanes = smaller(kernel.nr, layout.lanes(t.cols)),
               panels = divide_up(lanes, layout.width);
  const size_t most = t.rhs_decoded ? groups * layout.kr
                                    : kInt4PartBytes / (panels * decoder.group_bytes) * layout.kr;
  const size_t lhs_lanes = round_up_pow2(t.rows, kernel.lhs_lanes_step);
  const uint8_t* rows[kMaxTileRows];
  Tile part = t;
  part.taps = 1;
  part.rhs_decoded = true;
  part.rhs_stride = decoder.operand_stride;
  part.cols = lanes;
  part.dst = sums;
  part.dst_stride = lanes * sizeof(int32_t);
  part.scale = part.row_scale = nullptr;
  const uint8_t* rhs = t.rhs;
  const uint8_t* lhs = (const uint8_t*)t.lhs;
  for (size_t tap = 0; tap < t.taps; ++tap) {
    if (tap && !t.lhs_rows) lhs += t.tap_steps[tap - 1];
    for (size_t k = 0; k < t.depth; k += part.depth) {
      part.depth = smaller(most, t.depth - k);
      const size_t part_groups = divide_up(part.depth, layout.kr);
      if (t.rhs_decoded) {
        part.rhs = rhs;
        rhs += groups * decoder.group_bytes;
      } else {
        decode_panels(kernel, rhs, t.rhs_stride, t.rhs_panel_stride, lanes, part_groups, decoded);
        rhs += part_groups * t.rhs_stride;
        part.rhs = decoded;
        part.rhs_panel_stride = part_groups * decoder.group_bytes;
      }
      if (t.lhs_rows) {
        for (size_t i = 0; i < t.rows; ++i) rows[i] = t.lhs_rows[tap * t.rows + i] + k;
        part.lhs_rows = rows;
      } else {
        part.lhs = lhs + k * (kernel.gather ? lhs_lanes * kernel.lhs_element_bytes : 1);
      }
      if (tap + 1 == t.taps && k + part.depth == t.depth) {
        part.cols = t.cols;
        part.dst = t.dst;
        part.dst_stride = t.dst_stride;
        part.scale = t.scale;
        part.row_scale = t.row_scale;
      }
      operands.multiply(part);
      part.init = sums;
      part.init_stride = lanes;
      part.row_init = nullptr;
    }
  }
}

}  // namespace octet
