// Maps pages by the system's own functions.
#include "support/system.h"

#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace octet_test {

#if defined(_WIN32)

size_t page_bytes() {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwPageSize;
}
uint8_t* map_pages(size_t bytes) {
  return (uint8_t*)VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}
void unmap_pages(uint8_t* pages, size_t) { VirtualFree(pages, 0, MEM_RELEASE); }
void limit_to(Access access, uint8_t* pages, size_t bytes) {
  DWORD before;
  VirtualProtect(pages, bytes, access == Access::kNone ? PAGE_NOACCESS : PAGE_READONLY, &before);
}

#else

size_t page_bytes() { return (size_t)sysconf(_SC_PAGESIZE); }
uint8_t* map_pages(size_t bytes) {
  void* const pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : (uint8_t*)pages;
}
void unmap_pages(uint8_t* pages, size_t bytes) { munmap(pages, bytes); }
void limit_to(Access access, uint8_t* pages, size_t bytes) {
  mprotect(pages, bytes, access == Access::kNone ? PROT_NONE : PROT_READ);
}

#endif

}  // namespace octet_test
