#include "dispatch/tables/methods.h"

namespace octet {
namespace {

#if defined(OCTET_WITHOUT_WINOGRAD)
#define WINOGRAD(method) nullptr
#else
#define WINOGRAD(method) &method
#endif
#if defined(OCTET_WITHOUT_DEPTHWISE)
#define DEPTHWISE(method) nullptr
#else
#define DEPTHWISE(method) &method
#endif

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
