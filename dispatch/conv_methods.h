// The algorithms by their public names.
#pragma once

#include "dispatch/conv_names.h"
#include "kernels/conv/filter_blob.h"

namespace octet {

const ConvMethod* method_of(uint8_t algorithm);  // null: AUTO, no algorithm, or not built in

// Which kernels an algorithm multiplies by, hence which forms it needs.
using ConvFamily = KernelKind;
ConvFamily family_of(octet_conv_algorithm algorithm);

// The layout of a tier for an algorithm.
RhsLayout conv_layout(octet_conv_algorithm algorithm, Isa isa, bool rhs_u8);

}  // namespace octet
