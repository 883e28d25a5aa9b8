#include "dispatch/conv_methods.h"

#include "dispatch/tables/tiers.h"

namespace octet {
namespace {

struct Row {
  const ConvMethod* method;
  ConvFamily family;
};

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

// Indexed by octet_conv_algorithm; null is not built in.
constexpr Row kRows[kAlgorithms] = {
    {nullptr, ConvFamily::kBytes},
    {&direct_method, ConvFamily::kBytes},
    {&im2col_method, ConvFamily::kBytes},
    {DEPTHWISE(depthwise_method), ConvFamily::kDepthwise},
    {WINOGRAD(winograd_2x2_method), ConvFamily::kWords},
    {WINOGRAD(winograd_4x4_method), ConvFamily::kWords},
    {WINOGRAD(winograd_2x2_s2_method), ConvFamily::kWords},
    {WINOGRAD(winograd_2x2_int8_method), ConvFamily::kBytes},
};

}  // namespace

const ConvMethod* method_of(uint8_t algorithm) {
  return algorithm < kAlgorithms ? kRows[algorithm].method : nullptr;
}

ConvFamily family_of(octet_conv_algorithm algorithm) { return kRows[algorithm].family; }

RhsLayout conv_layout(octet_conv_algorithm algorithm, Isa isa, bool rhs_u8) {
  switch (family_of(algorithm)) {
    case ConvFamily::kBytes: break;
    case ConvFamily::kWords: return form_of(tier_of(isa).words).layout;
    case ConvFamily::kDepthwise: return form_of(tier_of(isa).depthwise).layout;
  }
  // Which makes its own weights, s8
  return layout_of(isa, rhs_u8 && algorithm != OCTET_CONV_WINOGRAD_2X2_INT8);
}

}  // namespace octet
