// Whether what rounds does it as the numeric contract says, in a thread that rounds to nearest.
#pragma once

#include "kernels/core/finish.h"
#include "kernels/core/lhs_rows.h"
#include "kernels/core/micro_kernel.h"

namespace octet {

bool finishes(FinishFn finish);
bool quantizes(QuantizeRowFn quantize);
// The narrow exit of a kernel that has one.
bool narrows(const MicroKernel& kernel, size_t rows, size_t columns);

}  // namespace octet
