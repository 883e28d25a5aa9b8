// The algorithms of convolution, by their number.
#include "operators/conv/algorithms/table.h"

#include "dispatch/tables/parts.h"

namespace octet {
namespace {

#define WINOGRAD(method) OCTET_IF_WINOGRAD(&method, nullptr)
#define DEPTHWISE(method) OCTET_IF_DEPTHWISE(&method, nullptr)

// Indexed by octet_conv_algorithm.
constexpr const ConvMethod* kMethods[kAlgorithms] = {
    nullptr,  // AUTO
    &direct_method,
    &im2col_method,
    DEPTHWISE(depthwise_method),
    WINOGRAD(winograd_2x2_method),
    WINOGRAD(winograd_4x4_method),
    WINOGRAD(winograd_2x2_s2_method),
    WINOGRAD(winograd_2x2_int8_method),
    DEPTHWISE(grouped_method),
};

}  // namespace

const ConvMethod* method_of(uint8_t algorithm) {
  return algorithm < kAlgorithms ? kMethods[algorithm] : nullptr;
}

}  // namespace octet
