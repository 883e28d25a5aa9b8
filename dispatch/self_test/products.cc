// SPDX-License-Identifier: Apache-2.0
// The self-test of the code that only products of matrices use: kernels of 4 bits, and work on
// weights that come with a run.
#include "dispatch/self_test/product.h"
#include "dispatch/self_test/self_test.h"
#include "dispatch/tables/formats.h"
#include "dispatch/tables/runtime_ops.h"
#include "dispatch/tables/scale_block_kernels.h"
#include "kernels/core/int4_part.h"
#include "kernels/core/parts.h"
#include "packing/packed_rhs.h"

namespace octet {

// Each height, for kernels decode weights in registers for some.
bool multiplies_encoded(const MicroKernel& kernel) {
  const RhsLayout& layout = kernel.rhs_layout;
  const Decoder& decoder = kernel.decoder;
  const size_t columns = smaller(kernel.nr, layout.width), groups = divide_up(kDepth, layout.kr);
  Operands operands;
  alignas(64) uint8_t weights[2048], panel[1024], room[4096];
  alignas(64) int32_t out[kMaxTile / 2];
  const size_t panels = divide_up(columns, layout.width),
               decoded = panels * groups * decoder.group_bytes,
               needed = decoder.room ? decoder.room - kInt4PartBytes + decoded : 0;
  if (layout.bytes(columns, kDepth) > sizeof weights || needed > sizeof room ||
      kernel.mr * columns > kMaxTile / 2 ||
      (kernel.gather && kernel.lhs_panel_bytes(kDepth) > sizeof panel))
    return false;
  for (uint8_t& byte : operands.rhs) byte = (uint8_t)((int8_t)(byte << 4) >> 4);
  find_format_of(layout)->packing->pack(
      layout, {operands.rhs, columns, kDepth, kTileColumns, 1, layout.element_type, nullptr, 0}, 0,
      columns, weights);
  for (size_t rows = 1; rows <= kernel.mr; ++rows) {
    Tile tile = make_tile(operands.lhs, weights, 1, rows, columns, out);
    tile.rhs_stride = layout.panel_width(0, columns) * layout.group_bytes();
    tile.rhs_panel_stride = layout.width * layout.lane_bytes(kDepth);
    tile.room = room;
    if (kernel.gather) {
      kernel.gather({operands.lhs, kDepth, rows, kDepth, 0}, round_up(rows, kernel.lhs_lanes_step),
                    panel);
      tile.lhs = panel;
    }
    kernel.multiply(tile);
    if (!is_product(
            out, rows, columns,
            [&](size_t i, size_t k) {
              return value(operands.lhs[i * kDepth + k], kernel.lhs_element_type);
            },
            [&](size_t k, size_t j) { return (int8_t)operands.rhs[k * kTileColumns + j]; }))
      return false;
  }
  return true;
}

TierMask failing_matrix_tiers(const CpuFeatures& cpu) {
  TierMask looked_at = 0, failing = 0;
  for (const MicroKernel* kernel : int8_kernels()) {
    const TierMask tier = mask_of(kernel->tier_id);
    if (!supports(cpu, *kernel)) continue;
    if (!(looked_at & tier)) {
      [[maybe_unused]] const RuntimeOps* const runtime = runtime_ops_of(kernel->tier_id);
      if (OCTET_IF(RUNTIME_WEIGHTS, (runtime && !passes(*runtime)), false) ||
          OCTET_IF(INT4, !passes(scale_block_kernel_of(kernel->tier_id)), false))
        failing |= tier;
    }
    looked_at |= tier;
    if (!kernel->rhs_layout.is_4bit()) continue;
    if (OCTET_IF(INT4, (!passes(*kernel) || !multiplies_encoded(*kernel)), false)) failing |= tier;
  }
  return failing;
}

}  // namespace octet
