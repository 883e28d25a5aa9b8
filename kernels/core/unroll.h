// How kernels keep an array of accumulators in registers on every compiler.
#pragma once

// unroll<n>(f) calls f(Int<0>{}) ... f(Int<n - 1>{}). The indices are constants from the first pass on, so an accumulator array is a set of
// registers whatever the optimizer does later; with `#pragma unroll` Clang keeps the largest tiles in memory.
#define OCTET_INLINE __attribute__((always_inline))

namespace octet {
namespace {

template <int v>
struct Int {
  static constexpr int value = v;
  constexpr operator int() const { return v; }
};

template <int n, int i = 0, typename F>
OCTET_INLINE inline void unroll(const F& f) {
  if constexpr (i < n) {
    f(Int<i>{});
    unroll<n, i + 1>(f);
  }
}

}  // namespace
}  // namespace octet

// OCTET_PIN(x): nothing, but the compiler must hold x in a vector register here. GCC 12 otherwise rotates accumulators through copies and
// spills one or two of them: 16 extra instructions in a loop of 40.
#if defined(__x86_64__)
#define OCTET_PIN(x) __asm__("" : "+v"(x))
#elif defined(__aarch64__)
#define OCTET_PIN(x) __asm__("" : "+w"(x))
#endif

// The same for plain loops over arrays: OCTET_UNROLL(n) before a loop with a constant count.
// OCTET_NO_UNROLL before a depth loop keeps compilers from doubling it and spilling.
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
