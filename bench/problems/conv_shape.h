// SPDX-License-Identifier: Apache-2.0
// Describes the geometry of a convolution and its name in benchdnn's manner:
// g32mb1_ic128oc128_ih56oh56kh3sh1ph1.
#pragma once

#include <string>

#include "bench/machine/api.h"

namespace tool {

struct ConvShape {
  octet_conv2d_shape geometry;
  size_t out_h, out_w;

  std::string name() const;
  double ops() const;  // with the multiplications by padding
  size_t group_in() const { return geometry.in_channels / geometry.groups; }
  size_t group_out() const { return geometry.out_channels / geometry.groups; }
  // Weights of one output channel
  size_t depth() const { return geometry.kernel_h * geometry.kernel_w * group_in(); }
  size_t in_pixels() const { return geometry.batch_max * geometry.in_h_max * geometry.in_w_max; }
  size_t out_pixels() const { return geometry.batch_max * out_h * out_w; }
};

// Fields in any order, '_' anywhere between them, a leading t for a transposed convolution:
//   mb batch (1)   g groups (1)   ic, oc channels   ih iw input   oh ow output   kh kw kernel
//   sh sw stride (1)   dh dw dilation (1 = none; benchdnn's 0)   ph pw padding above and left (0)
// A missing width equals the height. Padding below and right follows from oh and ow; without them
// it equals the padding above and left. Throws Error.
ConvShape parse_conv(const std::string& text);

}  // namespace tool
