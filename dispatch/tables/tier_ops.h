// SPDX-License-Identifier: Apache-2.0
// Looks up a tier's operations (row work, epilogue). A tier that is not compiled in gets the
// baseline's.
#pragma once

#include "kernels/core/tier_id.h"
#include "kernels/core/tier_ops.h"

namespace octet {

const TierOps& ops_of(TierId tier_id);

}  // namespace octet
