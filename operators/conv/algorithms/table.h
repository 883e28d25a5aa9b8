// The algorithms of convolution by their public names.
#pragma once

#include "dispatch/api/algorithm_names.h"
#include "operators/conv/algorithms/algorithm.h"

namespace octet {

const ConvAlgorithm* algorithm_of(uint8_t algorithm);  // null: AUTO, no algorithm, or not built in

}  // namespace octet
