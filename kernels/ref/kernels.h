// The portable kernels.
#pragma once

#include "kernels/core/micro_kernel.h"

namespace octet {
extern const MicroKernel scalar_u8s8_4x4x4;
extern const MicroKernel scalar_u8s8_3x5x2;
}  // namespace octet
