// SPDX-License-Identifier: Apache-2.0
// Maps memory page by page, and changes the environment, on POSIX and on Windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// Compilers differ in how they say that AddressSanitizer is on.
#if defined(__SANITIZE_ADDRESS__)
#define OCTET_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OCTET_ASAN 1
#endif
#endif

#ifdef OCTET_ASAN
#include <sanitizer/asan_interface.h>
#define OCTET_POISON ASAN_POISON_MEMORY_REGION
#define OCTET_UNPOISON ASAN_UNPOISON_MEMORY_REGION
#else
#define OCTET_POISON(address, bytes) ((void)(address), (void)(bytes))
#define OCTET_UNPOISON(address, bytes) ((void)(address), (void)(bytes))
#endif

namespace octet_test {

// Divides the number of random cases where guard pages find what AddressSanitizer finds.
#ifdef OCTET_ASAN
constexpr int kFewer = 3;
#else
constexpr int kFewer = 1;
#endif

enum class Access { kNone, kRead, kWrite };

size_t page_bytes();
uint8_t* map_pages(size_t bytes);  // zeros that can be written; null if there is no memory
void unmap_pages(uint8_t* pages, size_t bytes);
void limit_to(Access access, uint8_t* pages, size_t bytes);

// Pages between two guards, one page each that may not be touched: the first guard begins at the
// result. Pages that were released are handed out again, as calls of the system would take longer
// than most tests; until then they hold kReleased, and AddressSanitizer knows that they are free.
constexpr uint8_t kReleased = 0x5A;
// `bytes`, of whole pages, are those between the guards; null if there is no memory.
uint8_t* take_guarded(size_t bytes);
void release_guarded(uint8_t* guard, size_t bytes, bool read_only);

}  // namespace octet_test

#if defined(_WIN32)
// As POSIX has them, but for an empty value, which Windows does not have.
inline int setenv(const char* name, const char* value, int) { return _putenv_s(name, value); }
inline int unsetenv(const char* name) { return _putenv_s(name, ""); }
#endif
