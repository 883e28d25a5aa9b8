// SPDX-License-Identifier: Apache-2.0
// The bodies in intrinsics that x86 tiers take in place of plain ones.
#pragma once

#include "kernels/generic/functions/elementwise_bodies.h"
#include "kernels/x86/functions/look_up.h"
#include "kernels/x86/functions/pairs.h"

namespace octet {
namespace {

struct X86Bodies {
  static constexpr PairsBody kAddFixed = add_fixed_x86, kMultiplyTflite = multiply_tflite_x86,
                             kMultiplyScaled = multiply_scaled_x86, kAddFloat = add_float_x86,
                             kMultiplyFloat = multiply_float_x86;
  static constexpr FunctionBody kLookUp = look_up_x86;
};

}  // namespace
}  // namespace octet
