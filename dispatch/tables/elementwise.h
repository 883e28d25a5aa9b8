// SPDX-License-Identifier: Apache-2.0
// Looks up a tier's functions over elements. A tier without its own gets the baseline's.
#pragma once

#include "kernels/core/feature.h"
#include "kernels/core/tier_id.h"
#include "kernels/generic/functions/elementwise.h"

namespace octet {

const ElementwiseOps& elementwise_of(TierId tier_id);
// The tier's fastest ElementwiseOps::add_fixed.
PairsBody add_fixed_of(TierId tier_id);
// The fastest ElementwiseOps::look_up of the tier on a CPU with these features.
FunctionBody look_up_of(TierId tier_id, Features has);

}  // namespace octet
