// A run's arguments, checked, with every default filled in.
#pragma once

#include "operators/common/check.h"
#include "operators/conv/object.h"

namespace octet {

struct ConvCall {
  const octet_conv2d_args& args;
  const ConvSizes& sizes;
  Extent lhs, dst, residual;                    // from first to last byte
  size_t lhs_pixel, dst_pixel, residual_pixel;  // bytes from one pixel to the next
};

// Pads too. prefix: what the sizes' names begin with.
octet_status check_sizes(const octet_conv2d& conv, const octet_conv2d_args& args,
                         const char* prefix, ConvSizes* sizes, octet_error* error);
// What the sizes and the workspace leave: tensors, run-time quantization, overlap.
octet_status check_call(const octet_conv2d& conv, ConvCall* call, octet_error* error);
// The caller's tensors where nothing is staged; those that are, beside them.
Pipeline resolve(const octet_conv2d& conv, const ConvCall& call, const Staging& staging);
octet_status check_workspace(const octet_conv2d_args& args, size_t bytes, octet_error* error);

}  // namespace octet
