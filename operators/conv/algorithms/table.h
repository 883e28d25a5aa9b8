// SPDX-License-Identifier: Apache-2.0
// Looks up a convolution algorithm by its public number.
#pragma once

#include "dispatch/api/algorithm_names.h"
#include "operators/conv/algorithms/algorithm.h"

namespace octet {

const ConvAlgorithm* algorithm_of(uint8_t algorithm);  // null: AUTO, unknown, or not built in

}  // namespace octet
