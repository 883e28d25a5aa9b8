// A tier's transforms for Winograd; the baseline's where the tier is not compiled in.
#pragma once

#include "kernels/core/isa.h"
#include "kernels/core/winograd_ops.h"

namespace octet {

const WinogradOps& transforms_of(Isa isa);

}  // namespace octet
