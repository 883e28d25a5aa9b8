// SPDX-License-Identifier: Apache-2.0
// Prints a convolution's trace line (OCTET_VERBOSE).
#include "operators/conv/trace.h"

#include <stdio.h>

namespace octet {

void trace(const char* event, const octet_conv2d& conv, const ConvShape& s, size_t batch,
           size_t in_h, size_t in_w, double microseconds) {
  char groups[24] = "";
  if (conv.groups > 1) snprintf(groups, sizeof groups, "g%zu", conv.groups);
  fprintf(stderr,
          "octet,%s,conv,%s%smb%zu_ic%zuoc%zu_ih%zuiw%zuoh%zuow%zukh%zukw%zush%zusw%zudh%zudw%zuph%"
          "zupw%zu,%zu,%s:%s:%s,%s,%s,%.3f,%s\n",
          event, s.transposed ? "t" : "", groups, batch, s.in_channels, s.out_channels, in_h, in_w,
          conv_out_h(s, in_h), conv_out_w(s, in_w), s.kernel_h, s.kernel_w, s.stride_h, s.stride_w,
          s.dilation_h, s.dilation_w, s.pad_top, s.pad_left, batch, octet_type_name(conv.lhs_type),
          octet_type_name(conv.rhs_type), octet_type_name(conv.dst_type),
          octet_conv2d_kernel(&conv), octet_conv_algorithm_name(conv.choice.algorithm),
          microseconds, origin_s16(conv.measured));
}

}  // namespace octet
