// SPDX-License-Identifier: Apache-2.0
// The table of convolution algorithms, indexed by octet_conv_algorithm.
#include "operators/conv/algorithms/table.h"

#include "kernels/core/parts.h"

namespace octet {
namespace {

#define WINOGRAD(implementation) OCTET_IF(WINOGRAD, &implementation, nullptr)
#define DEPTHWISE(implementation) OCTET_IF(DEPTHWISE, &implementation, nullptr)

// Indexed by octet_conv_algorithm.
constexpr const ConvAlgorithm* kImplementations[kAlgorithms] = {
    nullptr,  // AUTO
    &direct_algorithm,
    &im2col_algorithm,
    DEPTHWISE(depthwise_algorithm),
    WINOGRAD(winograd_2x2_algorithm),
    WINOGRAD(winograd_4x4_algorithm),
    WINOGRAD(winograd_2x2_s2_algorithm),
    WINOGRAD(winograd_2x2_int8_algorithm),
    DEPTHWISE(grouped_algorithm),
};

}  // namespace

const ConvAlgorithm* algorithm_of(uint8_t algorithm) {
  return algorithm < kAlgorithms ? kImplementations[algorithm] : nullptr;
}

}  // namespace octet
