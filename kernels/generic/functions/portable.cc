// The functions of tiers that need no build of their own. On aarch64 the baseline includes NEON.
#include "kernels/generic/functions/portable.h"

#include "kernels/generic/functions/elementwise_bodies.h"

namespace octet {
const ElementwiseOps portable_elementwise = elementwise_bodies<PlainBodies>();
}  // namespace octet
