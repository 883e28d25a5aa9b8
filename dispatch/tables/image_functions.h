// SPDX-License-Identifier: Apache-2.0
// Looks up a tier's functions of images: those of the best build whose features the tier has.
#pragma once

#include "kernels/core/tier_id.h"
#include "kernels/generic/functions/image_function.h"

namespace octet {

ImageFunctions image_functions_of(TierId tier_id);

}  // namespace octet
