// SPDX-License-Identifier: Apache-2.0
// Macros and templates with which kernels keep arrays of accumulators in registers on every
// compiler.
#pragma once

// unroll<n>(f) calls f(Int<0>{}) ... f(Int<n - 1>{}). The indices are constants from the first pass
// on, so an accumulator array is a set of registers whatever the optimizer does later; with
// `#pragma unroll` Clang keeps the largest tiles in memory.
#define OCTET_INLINE __attribute__((always_inline))

namespace octet {
namespace {

template <int v>
struct Int {
  static constexpr int value = v;
  constexpr operator int() const { return v; }
};

// Spelled out: a recursion would be inlined level by level, a quarter more time to compile a
// kernel.
template <int n, typename F>
OCTET_INLINE inline void unroll(const F& f) {
  static_assert(n <= 16, "add lines");
  if constexpr (n > 0) f(Int<0>{});
  if constexpr (n > 1) f(Int<1>{});
  if constexpr (n > 2) f(Int<2>{});
  if constexpr (n > 3) f(Int<3>{});
  if constexpr (n > 4) f(Int<4>{});
  if constexpr (n > 5) f(Int<5>{});
  if constexpr (n > 6) f(Int<6>{});
  if constexpr (n > 7) f(Int<7>{});
  if constexpr (n > 8) f(Int<8>{});
  if constexpr (n > 9) f(Int<9>{});
  if constexpr (n > 10) f(Int<10>{});
  if constexpr (n > 11) f(Int<11>{});
  if constexpr (n > 12) f(Int<12>{});
  if constexpr (n > 13) f(Int<13>{});
  if constexpr (n > 14) f(Int<14>{});
  if constexpr (n > 15) f(Int<15>{});
}

// pin(x) emits no code, but the compiler must hold x in a vector register here. GCC 12 otherwise
// rotates accumulators through copies and spills one or two of them: 16 extra instructions in a
// loop of 40.
template <typename T>
OCTET_INLINE inline void pin([[maybe_unused]] T& x) {
#if defined(__x86_64__)
  __asm__("" : "+v"(x));
#elif defined(__aarch64__) || defined(__arm__)
  __asm__("" : "+w"(x));
#endif
}

// spill(x) emits no code, but the compiler must keep x on the stack here. It is for values that a
// hot loop does not need: with no general register left, GCC 12 parks them in vector registers, and
// the loads around the loop wait for them to come back.
template <typename T>
OCTET_INLINE inline void spill(T& x) {
  __asm__("" : "+m"(x));
}

// keep_branch() emits no code, but keeps a rare branch a branch: GCC 12 would otherwise turn its
// assignments into conditional moves that run every time.
OCTET_INLINE inline void keep_branch() { __asm__ volatile(""); }

}  // namespace
}  // namespace octet

// Unrolling for plain loops over arrays: OCTET_UNROLL(n) before a loop with a constant count.
// OCTET_NO_UNROLL before a depth loop keeps compilers from doubling it and spilling.
#define OCTET_PRAGMA(x) _Pragma(#x)
// OCTET_INDEPENDENT before a loop in which no iteration reads what another one writes.
#if defined(__clang__)
#define OCTET_INDEPENDENT OCTET_PRAGMA(clang loop vectorize(assume_safety))
#define OCTET_UNROLL(n) OCTET_PRAGMA(clang loop unroll(full))
#define OCTET_NO_UNROLL OCTET_PRAGMA(clang loop unroll(disable))
#else
#define OCTET_INDEPENDENT OCTET_PRAGMA(GCC ivdep)
#define OCTET_UNROLL(n) OCTET_PRAGMA(GCC unroll n)
#define OCTET_NO_UNROLL OCTET_PRAGMA(GCC unroll 1)
#endif
