// SPDX-License-Identifier: Apache-2.0
// OCTET_ASSERT states a condition for which one part of the library relies on another one. It is
// checked in builds with OCTET_ASSERTS (debug, sanitizers, fuzzers) and compiles to nothing
// elsewhere: a caller's bad arguments are refused long before.
#pragma once

#if defined(OCTET_ASSERTS)
#define OCTET_ASSERT(condition) ((condition) ? (void)0 : __builtin_trap())
#else
#define OCTET_ASSERT(condition) ((void)0)
#endif
