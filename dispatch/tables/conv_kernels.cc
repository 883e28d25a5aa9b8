// SPDX-License-Identifier: Apache-2.0
// The table of the int8 kernels, dense and 2:4 sparse, that convolutions use.
#include "dispatch/tables/kernels.h"
#include "kernels/arm/kernels.h"
#include "kernels/core/parts.h"
#include "kernels/scalar/kernels.h"
#include "kernels/x86/kernels.h"

namespace octet {
namespace {

#define INT8(tier_id, kernel, ...) &kernel,
#define SPARSE(tier_id, kernel, use) OCTET_IF(SPARSE, ROW, NO_ROW)(&kernel)
constexpr const MicroKernel* kRows[] = {
#include "dispatch/tables/kernels.def"
};

}  // namespace

KernelList conv_kernels() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

}  // namespace octet
