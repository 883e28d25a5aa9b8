// SPDX-License-Identifier: Apache-2.0
// The table of the kernels of matrices that are compiled in: int8, 2:4 sparse and int4.
#include "dispatch/tables/kernels.h"
#include "kernels/arm/kernels.h"
#include "kernels/core/parts.h"
#include "kernels/scalar/kernels.h"
#include "kernels/x86/kernels.h"

namespace octet {
namespace {

#define INT8(tier_id, kernel, ...) &kernel,
#define INT4(tier_id, kernel, use) OCTET_IF(INT4, ROW, NO_ROW)(&kernel)
#define SPARSE(tier_id, kernel, use) OCTET_IF(SPARSE, ROW, NO_ROW)(&kernel)
constexpr const MicroKernel* kRows[] = {
#include "dispatch/tables/kernels.def"
};

}  // namespace

KernelList int8_kernels() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

}  // namespace octet
