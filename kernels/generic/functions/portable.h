// SPDX-License-Identifier: Apache-2.0
// The functions of a tier, compiled for the baseline, for tiers that need no build of their own.
#pragma once

#include "kernels/generic/functions/elementwise.h"
#include "kernels/generic/functions/image_function.h"

namespace octet {
extern const ImageFunctions portable_image_functions;
extern const ElementwiseOps portable_elementwise;

// In all tiers: a copy gains nothing by other vectors.
void place_portable(const Place& f, const ImageCall& call);
void reshape_portable(const Reshape& f, const ImageCall& call);
}  // namespace octet
