// Looks up a tier's Winograd transforms. A tier that is not compiled in gets the baseline's.
#pragma once

#include "kernels/core/isa.h"
#include "kernels/core/winograd_ops.h"

namespace octet {

const WinogradOps& transforms_of(Isa isa);

}  // namespace octet
