// acc += product for AVX2, which has no instruction that multiplies and adds to an accumulator.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"

namespace octet {
namespace {

// Assembly, because GCC 12 puts the sum into the product's register and copies it back: 7 moves in
// a loop of 36.
OCTET_INLINE inline void accumulate(__m256i& acc, __m256i product) {
  __asm__("vpaddd %1, %0, %0" : "+x"(acc) : "x"(product));
}
OCTET_INLINE inline void accumulate_int16(__m256i& acc, __m256i product) {
  __asm__("vpaddw %1, %0, %0" : "+x"(acc) : "x"(product));
}

// VPMADDWD by these adds pairs of 16 bits.
alignas(32) constexpr int16_t kOnes[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

}  // namespace
}  // namespace octet
