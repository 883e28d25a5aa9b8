// SPDX-License-Identifier: Apache-2.0
// Tells whether code left the upper halves of x86's vector registers in use, which makes SSE code
// after it up to twice as slow.
#pragma once

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace octet_test {

// False where the CPU does not tell. Callers ask directly after the call in question: the C
// library's functions clear the halves, too.
inline bool upper_halves_in_use() {
#if defined(__x86_64__) || defined(__i386__)
  static const bool tells = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    const bool has_xgetbv = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE) != 0;
    return has_xgetbv && __get_cpuid_count(0xD, 1, &a, &b, &c, &d) && (a & 4) != 0;
  }();
  if (!tells) return false;
  // XINUSE, Intel's manual volume 1, 13.6: bit 2 is the state of YMM's upper halves.
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return (low & 4) != 0;
#else
  return false;
#endif
}

}  // namespace octet_test
