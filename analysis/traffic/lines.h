// A convolution by lines, as in a chain, that tells what it would do.
#pragma once

#include "octet/traffic.h"
#include "operators/conv/run_lines.h"

namespace octet {

// As run_lines.
void walk_lines(octet_traffic* traffic, const octet_conv2d& conv, const LineTensor& lhs,
                const LineTensor* residual, const LineTensor& dst, LineRange out, size_t most,
                uint8_t* workspace);

}  // namespace octet
