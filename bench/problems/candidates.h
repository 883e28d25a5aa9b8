// SPDX-License-Identifier: Apache-2.0
// Lists the plan's candidates for a convolution.
#pragma once

#include <vector>

#include "bench/machine/api.h"

namespace tool {

std::vector<octet_conv2d_candidate> candidates(const octet_filter_desc& filter, octet_isa isa);

}  // namespace tool
