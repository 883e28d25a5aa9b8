// Maps files, where the system has mmap.
#pragma once

#include <cstddef>
#include <string>

#if __has_include(<sys/mman.h>)
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace octet::graph {

#if __has_include(<sys/mman.h>)

// Null: there is no such file, it has no bytes, or the system does not map it.
inline void* map(const std::string& path, size_t* bytes) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  const off_t end = lseek(file, 0, SEEK_END);
  void* mapping = MAP_FAILED;
  if (end > 0) mapping = mmap(nullptr, (size_t)end, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  *bytes = (size_t)end;
  return mapping == MAP_FAILED ? nullptr : mapping;
}
inline void unmap(void* mapping, size_t bytes) { munmap(mapping, bytes); }
inline unsigned long process_number() { return (unsigned long)getpid(); }

#else

inline void* map(const std::string&, size_t*) { return nullptr; }
inline void unmap(void*, size_t) {}
inline unsigned long process_number() { return 0; }

#endif

}  // namespace octet::graph
