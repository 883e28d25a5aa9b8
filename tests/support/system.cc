// SPDX-License-Identifier: Apache-2.0
// Maps pages by the system's own functions.
#include "support/system.h"

#include <cstring>
#include <map>
#include <mutex>
#include <vector>

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
  VirtualProtect(pages, bytes,
                 access == Access::kNone   ? PAGE_NOACCESS
                 : access == Access::kRead ? PAGE_READONLY
                                           : PAGE_READWRITE,
                 &before);
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
  mprotect(pages, bytes,
           access == Access::kNone   ? PROT_NONE
           : access == Access::kRead ? PROT_READ
                                     : PROT_READ | PROT_WRITE);
}

#endif

namespace {

// Released pages by their number of bytes; at most this much stays mapped.
constexpr size_t kMostKept = size_t{64} << 20;
struct Released {
  std::mutex mutex;
  std::map<size_t, std::vector<uint8_t*>> guards;
  size_t kept = 0;
};
Released& released() {
  static Released* const all = new Released;  // outlives every static object that releases pages
  return *all;
}

}  // namespace

uint8_t* take_guarded(size_t bytes) {
  const size_t page = page_bytes();
  uint8_t* guard = nullptr;
  {
    Released& all = released();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.guards.find(bytes);
    if (found != all.guards.end() && !found->second.empty()) {
      guard = found->second.back();
      found->second.pop_back();
      all.kept -= bytes;
    }
  }
  if (guard) {
    OCTET_UNPOISON(guard + page, bytes);
    return guard;
  }
  guard = map_pages(bytes + 2 * page);
  if (!guard) return nullptr;
  limit_to(Access::kNone, guard, page);
  limit_to(Access::kNone, guard + page + bytes, page);
  return guard;
}

void release_guarded(uint8_t* guard, size_t bytes, bool read_only) {
  const size_t page = page_bytes();
  Released& all = released();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (all.kept + bytes > kMostKept) return unmap_pages(guard, bytes + 2 * page);
  if (read_only) limit_to(Access::kWrite, guard + page, bytes);
  std::memset(guard + page, kReleased, bytes);
  OCTET_POISON(guard + page, bytes);
  all.guards[bytes].push_back(guard);
  all.kept += bytes;
}

}  // namespace octet_test
