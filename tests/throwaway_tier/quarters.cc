// SPDX-License-Identifier: Apache-2.0
// Packs weights of 2 bits, four in a byte.
#include "packing/quarters.h"

#include <string.h>

namespace octet {

void pack_quarter_lanes(const RhsLayout& layout, const LaneView& from, const uint8_t*, size_t width,
                        size_t offset, uint8_t* panel) {
  for (size_t k = 0; k < from.depth; ++k)
    for (size_t lane = 0; lane < from.lanes; ++lane) {
      const uint8_t w = from.data[k * from.depth_stride + lane * from.lane_stride] ^ from.flip;
      const size_t step = (offset + k) % layout.kr, shift = step / 4 * 2;
      uint8_t& four =
          panel[((offset + k) / layout.kr * width + lane) * layout.group_bytes() + step % 4];
      four = (uint8_t)((four & ~(3 << shift)) | (w & 3) << shift);
    }
}

void pack_quarters(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
                   uint8_t* packed) {
  const uint8_t flip = type_shift(rhs.type, layout.element_type) ? 0x80 : 0;
  for (size_t lane = first; lane < first + count; lane += layout.width) {
    const size_t width = layout.panel_width(lane, rhs.n);
    uint8_t* const panel = packed + layout.panel_offset(lane, rhs.k);
    memset(panel, 0, width * layout.lane_bytes(rhs.k));
    pack_quarter_lanes(layout,
                       {rhs.data + lane * rhs.n_stride, rhs.n_stride, rhs.k_stride,
                        smaller(layout.width, rhs.n - lane), rhs.k, flip},
                       nullptr, width, 0, panel);
  }
}

}  // namespace octet
