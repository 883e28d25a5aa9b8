// SPDX-License-Identifier: Apache-2.0
// POSIX: reads files.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dispatch/os/os.h"
#include "dispatch/os/read_all.h"

namespace octet::os {
namespace {

bool is_regular(int file) {
  struct stat status;
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

ptrdiff_t read_some(int file, char* to, size_t most) {
  for (;;) {
    const ssize_t length = read(file, to, most);
    if (length >= 0 || errno != EINTR) return length;
  }
}

}  // namespace

size_t read_beginning(const char* path, char* text, size_t room) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = read(file, text, room);
  close(file);
  return length > 0 ? (size_t)length : 0;
}

int read_whole(const char* path, size_t most, char** text, size_t* bytes) {
  *text = nullptr, *bytes = 0;
  // O_NONBLOCK, because opening a pipe would wait
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0) return errno;
  const auto read = [&](char* to, size_t room) { return read_some(file, to, room); };
  const int reason = is_regular(file) ? read_all(read, most, text, bytes) : kNoRegularFile;
  close(file);
  return reason;
}

}  // namespace octet::os
