// SPDX-License-Identifier: Apache-2.0
// Traces a convolution on some lines, as chains run it.
#pragma once

#include "octet/traffic.h"
#include "operators/conv/run_lines.h"

namespace octet {

// Arguments as for run_lines.
void walk_lines(octet_traffic* traffic, const octet_conv2d& conv, const LineTensor& lhs,
                const LineTensor* residual, const LineTensor& dst, LineRange out, size_t most,
                uint8_t* workspace);

}  // namespace octet
