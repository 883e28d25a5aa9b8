// SPDX-License-Identifier: Apache-2.0
// Refuses compiler flags that change float results. The numeric contract counts roundings, and code
// rounds floats to integers by adding a large number and subtracting it again, so every operation
// must be done as written and round once, to float. cmake/strict_float.cmake has the flags.
#pragma once

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#error "Octet needs floats as written: not -ffast-math, -Ofast or -funsafe-math-optimizations"
#endif

// f32 outputs hold NaN, infinities and zeros with a sign.
#if defined(__NO_SIGNED_ZEROS__) || __FINITE_MATH_ONLY__
#error "Octet's outputs hold every float: not -ffinite-math-only or -fno-signed-zeros"
#endif

// 16: wider than _Float16, no wider than float.
#if __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error "Octet's floats must round to float: on 32-bit x86, compile with -msse2 -mfpmath=sse"
#endif

// No macro shows whether a product and a sum become one FMA, nor most of Clang's unsafe flags.
#if !defined(OCTET_STRICT_FLOAT)
#error "Octet needs -fno-fast-math -ffp-contract=off: add them, and -DOCTET_STRICT_FLOAT to say so"
#endif
