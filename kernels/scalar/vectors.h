// SPDX-License-Identifier: Apache-2.0
// Defines OCTET_VECTORS: whether the compiler's flags promise 128-bit vectors, which then hold four
// sums each. Otherwise sums are in general registers.
#pragma once

#if defined(__SSE2__) || defined(__VSX__) || defined(__riscv_vector) || defined(__ARM_NEON) || \
    defined(__loongarch_sx) || defined(__wasm_simd128__) || defined(__mips_msa)
#define OCTET_VECTORS 1
#else
#define OCTET_VECTORS 0
#endif
