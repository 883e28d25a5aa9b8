// SPDX-License-Identifier: Apache-2.0
// The functions over elements of the SSE4.1 tier.
#include "kernels/x86/functions/bodies.h"
#include "kernels/x86/kernels.h"

namespace octet {
const ElementwiseOps sse41_elementwise = elementwise_bodies<X86Bodies>();
}  // namespace octet
