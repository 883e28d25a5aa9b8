// A run's arguments, checked, with every default filled in.
#pragma once

#include "dispatch/check.h"
#include "dispatch/conv.h"

namespace octet {

struct ConvSizes {
  size_t batch, in_h, in_w, out_h, out_w;
  ConvShape shape;  // the plan's, with the run's pads
};

struct ConvCall {
  const octet_conv2d_args& args;
  ConvSizes sizes;
  Extent lhs, dst, residual;                    // from first to last byte
  size_t lhs_pixel, dst_pixel, residual_pixel;  // bytes from one pixel to the next
};

// Pads too. prefix: what the sizes' names begin with.
octet_status check_sizes(const octet_conv2d& conv, const octet_conv2d_args& args,
                         const char* prefix, ConvSizes* sizes, octet_error* error);
// All but the workspace: sizes, tensors, run-time quantization, overlap.
octet_status check_call(const octet_conv2d& conv, ConvCall* call, octet_error* error);
octet_status check_workspace(const octet_conv2d_args& args, size_t bytes, octet_error* error);

}  // namespace octet
