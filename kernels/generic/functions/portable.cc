// SPDX-License-Identifier: Apache-2.0
// The functions of tiers that need no build of their own. On aarch64 the baseline includes NEON.
#include "kernels/generic/functions/portable.h"

#include "kernels/generic/functions/elementwise_bodies.h"

namespace octet {
namespace {
constexpr ElementwiseOps with_far_sums(ElementwiseOps ops) {
  ops.add_fused_far = add_fused<true>;
  return ops;
}
}  // namespace
const ElementwiseOps portable_elementwise = with_far_sums(elementwise_bodies<PlainBodies>());
}  // namespace octet
