// SPDX-License-Identifier: Apache-2.0
// Looks up a tier's Winograd transforms. A tier that is not compiled in gets the baseline's.
#pragma once

#include "kernels/core/tier_id.h"
#include "kernels/core/winograd_ops.h"

namespace octet {

const WinogradOps& transforms_of(TierId tier_id);

}  // namespace octet
