// Runs a loop in the widest vectors that it is compiled for here: those of AVX2 and FMA where an
// x86-64 processor has both, the compiler's baseline elsewhere. Bytes are equal: loops are of
// integers, or of floats that round as they are written (cmake/strict_float.cmake). A test sets
// TOOL_BASELINE, which takes the baseline only.
#pragma once

namespace tool {

#define TOOL_INLINE inline __attribute__((always_inline))

#if defined(__x86_64__) && !defined(TOOL_BASELINE)
template <typename Loop, typename... Args>
__attribute__((target("avx2,fma"))) void run_avx2(const Args&... args) {
  Loop::run(args...);
}
inline bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}
#endif

// Calls Loop::run(args...), which must be TOOL_INLINE, like all functions that it calls.
template <typename Loop, typename... Args>
void run_widest(const Args&... args) {
#if defined(__x86_64__) && !defined(TOOL_BASELINE)
  if (has_avx2()) return run_avx2<Loop>(args...);
#endif
  Loop::run(args...);
}

}  // namespace tool
