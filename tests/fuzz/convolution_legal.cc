// SPDX-License-Identifier: Apache-2.0
// Knows, by octet.h, which algorithms can compute a convolution, and which ones create refuses.
#include "fuzz/convolution.h"

namespace octet_fuzz {

const char* Convolution::refused(octet_conv_algorithm algorithm) const {
  if (s16_ && filter.type != OCTET_S8) return "a filter that is not s8 by s16 values";
  if (s16_ && algorithm == OCTET_CONV_WINOGRAD_2X2_INT8) return "approximate sums of s16 values";
  return epilogue.refused();
}

bool Convolution::possible(octet_conv_algorithm algorithm) const {
  if (filter.sparsity == OCTET_SPARSE_2_4 && algorithm > OCTET_CONV_IM2COL) return false;
  const octet_conv2d_shape& s = filter.shape;
  // In s8; near: 144 (w - zero point) has 16 bits
  bool centred = true, near = true;
  const int32_t shift = -centre(filter.type);
  const auto look_at = [&](int32_t zero_point) {
    centred = centred && zero_point == 0;
    near = near && zero_point >= -100 && zero_point <= 99;
  };
  if (zero_points_.empty()) look_at(shift);
  for (const int32_t zero_point : zero_points_) look_at(zero_point + shift);
  const bool plain_3x3 =
      s.kernel_h == 3 && s.kernel_w == 3 && s.dilation_h == 1 && s.dilation_w == 1 && !s.transposed;
  const size_t group = s.in_channels / s.groups;
  const auto strides = [&](size_t stride) { return s.stride_h == stride && s.stride_w == stride; };
  switch (algorithm) {
    case OCTET_CONV_AUTO:
    case OCTET_CONV_DIRECT:
    case OCTET_CONV_IM2COL:
      return true;
    case OCTET_CONV_DEPTHWISE:
      return s.in_channels == s.groups && !s.transposed;
    case OCTET_CONV_GROUPED:
      return group == s.out_channels / s.groups && group >= 2 && group <= 16 &&
             (group & (group - 1)) == 0 && !s.transposed;
    case OCTET_CONV_WINOGRAD_2X2:
      return plain_3x3 && strides(1);
    case OCTET_CONV_WINOGRAD_4X4:
      return plain_3x3 && strides(1) && near;
    case OCTET_CONV_WINOGRAD_2X2_S2:
      return plain_3x3 && strides(2);
    case OCTET_CONV_WINOGRAD_2X2_INT8:
      return plain_3x3 && strides(1) && centred && filter.accuracy == OCTET_ACCURACY_APPROXIMATE;
  }
  return false;
}

}  // namespace octet_fuzz
