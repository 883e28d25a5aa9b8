// SPDX-License-Identifier: Apache-2.0
// The vectors of functions between products: SSE4.1's or AVX2's, as the including file is compiled.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/x86/shared/vector.h"

namespace octet {
namespace {

#ifdef __AVX2__
using VectorF = __m256;
#else
using VectorF = __m128;
#endif
constexpr size_t kVector = sizeof(Vector);

}  // namespace
}  // namespace octet
