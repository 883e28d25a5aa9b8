// SPDX-License-Identifier: Apache-2.0
// acc += product for AVX2 and AVX-512 without VNNI, which have no instruction that multiplies and
// adds to an accumulator.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"

namespace octet {
namespace {

// Assembly, because GCC 12 puts the sum into the product's register and copies it back: 7 moves in
// a loop of 36.
template <typename Vector>
OCTET_INLINE inline void accumulate(Vector& acc, Vector product) {
  __asm__("vpaddd %1, %0, %0" : "+v"(acc) : "v"(product));
}
template <typename Vector>
OCTET_INLINE inline void accumulate_int16(Vector& acc, Vector product) {
  __asm__("vpaddw %1, %0, %0" : "+v"(acc) : "v"(product));
}

// VPMADDWD by these adds pairs of 16 bits.
alignas(64) constexpr int16_t kOnes[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                           1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

}  // namespace
}  // namespace octet
