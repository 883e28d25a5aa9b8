// Maps memory page by page, and changes the environment, on POSIX and on Windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace octet_test {

enum class Access { kNone, kRead };

size_t page_bytes();
uint8_t* map_pages(size_t bytes);  // zeros that can be written; null if there is no memory
void unmap_pages(uint8_t* pages, size_t bytes);
void limit_to(Access access, uint8_t* pages, size_t bytes);

}  // namespace octet_test

#if defined(_WIN32)
// As POSIX has them, but for an empty value, which Windows does not have.
inline int setenv(const char* name, const char* value, int) { return _putenv_s(name, value); }
inline int unsetenv(const char* name) { return _putenv_s(name, ""); }
#endif
