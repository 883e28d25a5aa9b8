// octet_tuning_save: replaces the file as a whole, and takes turns with other writers.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dispatch/api/file_error.h"
#include "dispatch/tuning/cache.h"

namespace octet {
namespace {

// The process's umask applies.
constexpr mode_t kAllMayWrite = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
constexpr size_t kPathMost = 4000, kAsideMost = kPathMost + 32;

octet_status refuse(const char* what, int reason, const char* path, octet_error* error) {
  return fail_file(error, OCTET_BAD_FILE, "path", what, reason, path);
}

// Locks the file that a path leads to, so that one writer at a time replaces it. On file systems
// without locks the last writer wins.
class Lock {
 public:
  Lock() = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    if (made_ && is_empty()) unlink(path_);
    release();
  }
  octet_status take(const char* path, octet_error* error) {
    for (;; release()) {
      struct stat held, named;
      made_ = stat(path, &named) != 0;
      if (!made_ && !S_ISREG(named.st_mode))
        return refuse_no_file(OCTET_BAD_FILE, "path", path, error);
      file_ = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, kAllMayWrite);
      if (file_ < 0) return refuse("opened for writing", errno, path, error);
      if (!is_regular(file_)) return refuse_no_file(OCTET_BAD_FILE, "path", path, error);
      while (flock(file_, LOCK_EX) != 0 && errno == EINTR) {
      }
      path_ = realpath(path, nullptr);
      if (!path_ && errno == ENOENT) continue;
      if (!path_ || fstat(file_, &held) != 0) return refuse("followed", errno, path, error);
      if (stat(path_, &named) == 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev)
        return OCTET_OK;
      // Another writer has replaced the file meanwhile
    }
  }
  // The path with links resolved, so that the rename replaces the file and not a link.
  const char* path() const { return path_; }
  // The permissions of the file that will be replaced.
  mode_t mode() const {
    struct stat held;
    return fstat(file_, &held) == 0 ? held.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO) : kAllMayWrite;
  }

  // Call after the locked file has been replaced.
  void replaced() { made_ = false; }

 private:
  bool is_empty() const {
    struct stat held;
    return path_ && fstat(file_, &held) == 0 && held.st_size == 0;
  }
  void release() {
    if (file_ >= 0) close(file_);
    free(path_);
    file_ = -1, path_ = nullptr;
  }

  int file_ = -1;
  char* path_ = nullptr;
  bool made_ = false;  // take() made the file; it is removed if the writer fails
};

// True if at least one line looks like a tuning's, damaged or not: no other file is overwritten.
bool is_tuning(const char* text, size_t bytes) {
  constexpr char kBegin[] = "octet-";
  TuningReader reader(text, bytes);
  for (TuningWords line; reader.next(&line);)
    if (line.length >= sizeof kBegin - 1 && memcmp(line.text, kBegin, sizeof kBegin - 1) == 0)
      return true;
  return bytes == 0;
}

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
  const int length = snprintf(aside, sizeof aside, "%s.new-XXXXXX", path);
  if (length < 0 || (size_t)length >= sizeof aside)
    return refuse("written aside", ENAMETOOLONG, path, error);
  // The name is new and cannot be guessed: in a folder that others can write to, a link or a pipe
  // could wait under any other name.
  const int file = mkostemp(aside, O_CLOEXEC);
  if (file < 0)
    return refuse("written aside, with .new-XXXXXX behind its name", errno, path, error);
  fchmod(file, mode);  // fails on file systems without modes, which do not need it
  int reason = write_all(file, text, bytes) ? 0 : errno;
  if (fsync(file) != 0 && !reason) reason = errno;
  if (close(file) != 0 && !reason) reason = errno;
  if (!reason && rename(aside, path) == 0) return OCTET_OK;
  const octet_status status = refuse("written", reason ? reason : errno, path, error);
  unlink(aside);
  return status;
}

octet_status save(const octet_tuning& tuning, const char* path, octet_error* error) {
  Lock lock;
  OCTET_TRY(lock.take(path, error));
  char* there;
  size_t there_bytes, bytes;
  OCTET_TRY(read_tuning_file(path, "path", false, OCTET_BAD_FILE, &there, &there_bytes, error));
  octet_status status;
  char* merged = nullptr;
  if (!is_tuning(there, there_bytes))
    status = fail(error, OCTET_BAD_FILE,
                  "path has a file without any line of a tuning, which is left as it is: '%.160s'",
                  path);
  else if (!(merged = merge_lines({there, there_bytes}, {tuning.text, tuning.bytes}, &bytes)))
    status = fail(error, OCTET_OUT_OF_MEMORY, "no memory for the lines of '%.160s'", path);
  else
    status = write_aside(lock.path(), lock.mode(), merged, bytes, error);
  if (status == OCTET_OK) lock.replaced();
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
