// SPDX-License-Identifier: Apache-2.0
// Interleaves the caller's weights into a panel.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

// Some lanes (columns, output channels) over some depth: element (k, lane) at data[k * depth_stride
// + lane * lane_stride].
struct LaneView {
  const uint8_t* data;
  size_t lane_stride, depth_stride;
  size_t lanes, depth;
  uint8_t flip;  // xor-ed to each element
};

// Writes the view to the first lanes of a panel `width` lanes wide, from depth `offset` on
// (kernels/core/packed_layout.h has the formula). All other bytes stay as they are.
void interleave(const LaneView& from, size_t width, size_t kr, size_t offset, uint8_t* panel);

}  // namespace octet
