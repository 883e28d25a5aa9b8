// SPDX-License-Identifier: Apache-2.0
// Checks the fields that functions of two tensors share, and makes the common parts of their plans.
#pragma once

#include "operators/functions/function.h"

namespace octet {

// Checks a descriptor; fills all of *builder but the body and the arithmetic's numbers.
// A pixel that is one for all becomes the plan's b: then *desc has a and b exchanged, too.
octet_status start_binary(octet_add_desc* desc, FunctionBuilder<BinaryPlan>* builder,
                          TierId* tier_id, octet_error* error);

}  // namespace octet
