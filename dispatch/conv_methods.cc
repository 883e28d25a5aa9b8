#include "dispatch/conv_methods.h"

#include "dispatch/kernel_table.h"

namespace octet {
namespace {

struct Row {
  const ConvMethod* method;
  ConvFamily family;
};

// Indexed by octet_conv_algorithm.
constexpr Row kRows[kAlgorithms] = {
    {nullptr, ConvFamily::kBytes},
    {&direct_method, ConvFamily::kBytes},
    {&im2col_method, ConvFamily::kBytes},
    {&depthwise_method, ConvFamily::kDepthwise},
    {&winograd_2x2_method, ConvFamily::kWords},
    {&winograd_4x4_method, ConvFamily::kWords},
    {&winograd_2x2_s2_method, ConvFamily::kWords},
    {&winograd_2x2_int8_method, ConvFamily::kBytes},
};

}  // namespace

const ConvMethod* method_of(uint8_t algorithm) {
  return algorithm < kAlgorithms ? kRows[algorithm].method : nullptr;
}

const char* algorithm_name(octet_conv_algorithm algorithm) {
  if (algorithm == OCTET_CONV_AUTO) return "auto";
  return algorithm > OCTET_CONV_AUTO && algorithm < kAlgorithms ? kRows[algorithm].method->name
                                                                : "unknown";
}

ConvFamily family_of(octet_conv_algorithm algorithm) { return kRows[algorithm].family; }

RhsLayout conv_layout(octet_conv_algorithm algorithm, Isa isa, bool rhs_u8) {
  switch (family_of(algorithm)) {
    case ConvFamily::kBytes: break;
    case ConvFamily::kWords: return word_layout_of(isa);
    case ConvFamily::kDepthwise: return depthwise_layout_of(isa);
  }
  // Which makes its own weights, s8
  return layout_of(isa, rhs_u8 && algorithm != OCTET_CONV_WINOGRAD_2X2_INT8);
}

Isa smallest_conv_isa(octet_conv_algorithm algorithm, const RhsLayout& layout) {
  constexpr Isa kSmallest[] = {Isa::kScalar, Isa::kAvx2, Isa::kNeon, Isa::kDotprod, Isa::kI8mm};
  for (const Isa isa : kSmallest)
    if (layout == conv_layout(algorithm, isa, layout.domain == Domain::kU8)) return isa;
  return Isa::kScalar;
}

}  // namespace octet

const char* octet_conv_algorithm_name(octet_conv_algorithm algorithm) {
  return octet::algorithm_name(algorithm);
}
