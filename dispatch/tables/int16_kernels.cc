// SPDX-License-Identifier: Apache-2.0
// The table of int16 kernels that are compiled in.
#include "dispatch/tables/kernels.h"
#include "kernels/arm/kernels.h"
#include "kernels/core/parts.h"
#include "kernels/scalar/kernels.h"
#include "kernels/x86/kernels.h"

namespace octet {
namespace {

#define INT16(tier_id, kernel, use) OCTET_IF(WINOGRAD, ROW, NO_ROW)(&kernel)
constexpr const MicroKernel* kRows[] = {
#include "dispatch/tables/kernels.def"
    nullptr};  // a library without them has an array, too

}  // namespace

KernelList int16_kernels() { return {kRows, sizeof kRows / sizeof kRows[0] - 1}; }

}  // namespace octet
