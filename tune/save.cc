// octet_tuning_save: a file that is always whole, and that no writer takes from another.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tune/cache.h"

namespace octet {
namespace {

// Less what the process masks.
constexpr mode_t kAllMayWrite = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
constexpr size_t kPathMost = 4000, kAsideMost = kPathMost + 32;

octet_status refuse(const char* what, const char* path, octet_error* error) {
  return fail(error, OCTET_BAD_FILE,
              "path is '%.160s', a file that cannot be %s (error %d of the system)", path, what,
              errno);
}

// Holds the file that has the path's name, so that its next version is made by one writer at a
// time. Where the file system has no locks, the last writer wins.
class Lock {
 public:
  Lock() = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    if (file_ >= 0) close(file_);
  }
  bool take(const char* path) {
    for (;;) {
      file_ = open(path, O_RDWR | O_CREAT | O_CLOEXEC, kAllMayWrite);
      if (file_ < 0) return false;
      while (flock(file_, LOCK_EX) != 0 && errno == EINTR) {
      }
      struct stat held, named;
      if (fstat(file_, &held) != 0) return false;
      if (stat(path, &named) == 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev)
        return true;
      close(file_);  // another writer has put a new one in its place meanwhile
    }
  }
  // With the rights of the file that it will replace.
  mode_t mode() const {
    struct stat held;
    return fstat(file_, &held) == 0 ? held.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO) : kAllMayWrite;
  }

 private:
  int file_ = -1;
};

bool write_all(int file, const char* text, size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(file, text, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text += written;
    bytes -= (size_t)written;
  }
  return true;
}

octet_status write_aside(const char* path, mode_t mode, const char* text, size_t bytes,
                         octet_error* error) {
  char aside[kAsideMost];
  snprintf(aside, sizeof aside, "%s.new-%ld", path, (long)getpid());
  // One that is there was left by a writer that died
  const int file = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (file < 0) return refuse("written aside, with .new-PROCESS behind its name", path, error);
  bool written = write_all(file, text, bytes);
  written = fsync(file) == 0 && written;
  written = close(file) == 0 && written;
  if (written && rename(aside, path) == 0) return OCTET_OK;
  const octet_status status = refuse("written", path, error);
  unlink(aside);
  return status;
}

octet_status save(const octet_tuning& tuning, const char* path, octet_error* error) {
  Lock lock;
  if (!lock.take(path)) return refuse("opened for writing", path, error);
  char* there;
  size_t there_bytes, bytes;
  OCTET_TRY(read_tuning_file(path, "path", false, OCTET_BAD_FILE, &there, &there_bytes, error));
  char* const merged = merge_lines({there, there_bytes}, {tuning.text, tuning.bytes}, &bytes);
  const octet_status status =
      merged ? write_aside(path, lock.mode(), merged, bytes, error)
             : fail(error, OCTET_OUT_OF_MEMORY, "no memory for the lines of '%.160s'", path);
  free(merged);
  free(there);
  return status;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_tuning_save(const octet_tuning* tuning, const char* path, octet_error* error) {
  if (!tuning || !path)
    return fail(error, OCTET_NULL_POINTER, "%s is null", tuning ? "path" : "tuning");
  if (!*path || strlen(path) > kPathMost)
    return fail(error, OCTET_BAD_FILE, "path has %zu characters; it must have 1 to %zu",
                strlen(path), kPathMost);
  return save(*tuning, path, error);
}
