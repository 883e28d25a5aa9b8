// SPDX-License-Identifier: Apache-2.0
// Maps files, creates new ones, and tells the number of this process, where the system has mmap.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>

#if __has_include(<sys/mman.h>)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace octet::graph {

#if __has_include(<sys/mman.h>)

constexpr bool kMapsFiles = true;

// Null: there is no such file, it is no regular file, it has no bytes, or the system does not map
// it.
inline void* map(const std::string& path, size_t* bytes) {
  // O_NONBLOCK, because opening a pipe would wait for another process
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0) return nullptr;
  struct stat about;
  void* mapping = MAP_FAILED;
  if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
    *bytes = (size_t)about.st_size;
    mapping = mmap(nullptr, *bytes, PROT_READ, MAP_PRIVATE, file, 0);
  }
  close(file);
  return mapping == MAP_FAILED ? nullptr : mapping;
}
inline void unmap(void* mapping, size_t bytes) { munmap(mapping, bytes); }
inline unsigned long process_number() { return (unsigned long)getpid(); }

// Opens a file that was not there, to write. Null, with the reason in errno: EEXIST if the path has
// a file, a link, a pipe or a folder already, which stays as it is.
inline std::FILE* create_new(const std::string& path) {
  constexpr mode_t kAllMayWrite = 0666;  // as far as the process's umask lets them
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kAllMayWrite);
  if (file < 0) return nullptr;
  if (std::FILE* const stream = fdopen(file, "wb")) return stream;
  close(file);
  unlink(path.c_str());
  errno = ENOMEM;
  return nullptr;
}

#else

constexpr bool kMapsFiles = false;

inline void* map(const std::string&, size_t*) { return nullptr; }
inline void unmap(void*, size_t) {}
inline unsigned long process_number() { return 0; }
inline std::FILE* create_new(const std::string&) { return nullptr; }

#endif

}  // namespace octet::graph
