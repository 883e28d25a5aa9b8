// SPDX-License-Identifier: Apache-2.0
// The table of s16 kernels that are compiled in.
#include "dispatch/tables/kernels.h"
#include "kernels/core/parts.h"
#include "kernels/x86/kernels.h"

namespace octet {
namespace {

#define S16(tier_id, kernel) OCTET_IF(INT16, ROW, NO_ROW)(&kernel)
constexpr const MicroKernel* kRows[] = {
#include "dispatch/tables/kernels.def"
    nullptr};  // a library without them has an array, too

}  // namespace

KernelList s16_kernels() { return {kRows, sizeof kRows / sizeof kRows[0] - 1}; }

}  // namespace octet
