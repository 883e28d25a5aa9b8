// OCTET_UNROLL(n) before a loop over an accumulator array. Without it GCC 12 keeps such arrays in memory: the same text runs at half the speed.
// Clang unrolls constant loops by itself. OCTET_NO_UNROLL before a depth loop keeps Clang from doubling it and spilling.
#pragma once

#define OCTET_PRAGMA(x) _Pragma(#x)
#if defined(__clang__)
#define OCTET_UNROLL(n) OCTET_PRAGMA(clang loop unroll(full))
#define OCTET_NO_UNROLL OCTET_PRAGMA(clang loop unroll(disable))
#else
#define OCTET_UNROLL(n) OCTET_PRAGMA(GCC unroll n)
#define OCTET_NO_UNROLL OCTET_PRAGMA(GCC unroll 1)
#endif

#ifdef __FAST_MATH__
#error "Octet's numeric contract forbids -ffast-math"
#endif
