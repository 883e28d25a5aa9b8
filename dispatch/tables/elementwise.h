// Looks up a tier's functions over elements. A tier without its own gets the baseline's.
#pragma once

#include "kernels/core/isa.h"
#include "kernels/generic/functions/elementwise.h"

namespace octet {

const ElementwiseOps& elementwise_of(Isa isa);

}  // namespace octet
