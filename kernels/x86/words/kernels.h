// Declares the kernels of words that others name as their MicroKernel::words.
#pragma once

#include "kernels/core/micro_kernel.h"

namespace octet {

extern const MicroKernel avx512vnni_s16s8_12x32x4;

}  // namespace octet
