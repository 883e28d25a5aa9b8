// SPDX-License-Identifier: Apache-2.0
// The checked arguments of a convolution's run, with every default filled in.
#pragma once

#include "operators/common/check.h"
#include "operators/conv/object.h"

namespace octet {

struct ConvCall {
  const octet_conv2d_args& args;
  const ConvSizes& sizes;
  Extent lhs, dst, residual;                    // bytes from first to last
  size_t lhs_pixel, dst_pixel, residual_pixel;  // bytes between pixels
};

// Checks sizes and pads. prefix: begins the sizes' names in messages.
octet_status check_sizes(const octet_conv2d& conv, const octet_conv2d_args& args,
                         const char* prefix, ConvSizes* sizes, octet_error* error);
// Checks the rest: tensors, run-time quantization, overlap.
octet_status check_call(const octet_conv2d& conv, ConvCall* call, octet_error* error);
// Makes the pipeline: the run has the caller's tensors that are not staged, `lhs`, `residual` and
// `dst` the staged ones.
Pipeline resolve(const octet_conv2d& conv, const ConvCall& call, const Staging& staging);
octet_status check_workspace(const octet_conv2d_args& args, size_t bytes, octet_error* error);

}  // namespace octet
