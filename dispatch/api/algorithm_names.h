// SPDX-License-Identifier: Apache-2.0
// The public names of the convolution algorithms. This file refers to no algorithm, so it links
// none.
#pragma once

#include "octet/octet.h"

namespace octet {

constexpr int kAlgorithms = OCTET_CONV_GROUPED + 1;  // with AUTO
const char* algorithm_name(octet_conv_algorithm algorithm);

}  // namespace octet
