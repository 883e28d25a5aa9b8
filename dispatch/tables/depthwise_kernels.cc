// SPDX-License-Identifier: Apache-2.0
// The table of depthwise and grouped kernels that are compiled in.
#include "dispatch/tables/kernels.h"
#include "kernels/arm/kernels.h"
#include "kernels/core/parts.h"
#include "kernels/scalar/kernels.h"
#include "kernels/x86/kernels.h"

namespace octet {
namespace {

#define DEPTHWISE(tier_id, kernel, use) OCTET_IF(DEPTHWISE, ROW, NO_ROW)(&kernel)
constexpr const DepthwiseKernel* kRows[] = {
#include "dispatch/tables/kernels.def"
    nullptr};  // a library without them has an array, too

}  // namespace

DepthwiseList depthwise_kernels() { return {kRows, sizeof kRows / sizeof kRows[0] - 1}; }

}  // namespace octet
