// SPDX-License-Identifier: Apache-2.0
// A convolution's trace line (OCTET_VERBOSE).
#pragma once

#include "operators/conv/object.h"
#include "operators/gemm/trace.h"

namespace octet {

// shape: the plan's, with the run's padding.
void trace(const char* event, const octet_conv2d& conv, const ConvShape& shape, size_t batch,
           size_t in_h, size_t in_w, double microseconds);

}  // namespace octet
