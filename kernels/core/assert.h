// What one room of the house relies on another one for. Checked in debug builds, with sanitizers
// and in fuzzers (OCTET_ASSERTS), and nothing otherwise: callers' bad arguments are refused long
// before.
#pragma once

#if defined(OCTET_ASSERTS)
#define OCTET_ASSERT(condition) ((condition) ? (void)0 : __builtin_trap())
#else
#define OCTET_ASSERT(condition) ((void)0)
#endif
