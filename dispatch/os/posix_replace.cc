// SPDX-License-Identifier: Apache-2.0
// POSIX: replaces a file under a lock.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dispatch/os/os.h"

namespace octet::os {
namespace {

// The process's umask applies.
constexpr mode_t kAllMayWrite = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
constexpr size_t kAsideMost = 4032;

// The permissions of the file that will be replaced.
mode_t mode_of(int file) {
  struct stat held;
  return fstat(file, &held) == 0 ? held.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO) : kAllMayWrite;
}

bool is_empty(int file) {
  struct stat held;
  return fstat(file, &held) == 0 && held.st_size == 0;
}

bool write_all(int file, const char* text, size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = ::write(file, text, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text += written;
    bytes -= (size_t)written;
  }
  return true;
}

}  // namespace

Replacement::~Replacement() {
  if (made_ && path_ && is_empty((int)lock_)) unlink(path_);
  release();
}

void Replacement::release() {
  if (lock_ >= 0) close((int)lock_);
  free(path_);
  lock_ = -1, path_ = nullptr;
}

// Locks the file that the path leads to.
Failure Replacement::begin(const char* path) {
  for (;; release()) {
    struct stat held, named;
    made_ = stat(path, &named) != 0;
    if (!made_ && !S_ISREG(named.st_mode)) return {kNoRegularFile, ""};
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, kAllMayWrite);
    if (file < 0) return {errno, "opened for writing"};
    lock_ = file;
    if (fstat(file, &held) != 0 || !S_ISREG(held.st_mode)) return {kNoRegularFile, ""};
    while (flock(file, LOCK_EX) != 0 && errno == EINTR) {
    }
    path_ = realpath(path, nullptr);
    if (!path_ && errno == ENOENT) continue;
    if (!path_ || fstat(file, &held) != 0) return {errno, "followed"};
    if (stat(path_, &named) == 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev)
      return {};
    // Another writer has replaced the file meanwhile
  }
}

Failure Replacement::write(const char* text, size_t bytes) {
  char aside[kAsideMost];
  const int length = snprintf(aside, sizeof aside, "%s.new-XXXXXX", path_);
  if (length < 0 || (size_t)length >= sizeof aside) return {ENAMETOOLONG, "written aside"};
  // The name is new and cannot be guessed: in a folder that others can write to, a link or a pipe
  // could wait under any other name.
  const int file = mkostemp(aside, O_CLOEXEC);
  if (file < 0) return {errno, "written aside, with .new-XXXXXX behind its name"};
  fchmod(file, mode_of((int)lock_));  // fails where there are no modes, which need none
  int reason = write_all(file, text, bytes) ? 0 : errno;
  if (fsync(file) != 0 && !reason) reason = errno;
  if (close(file) != 0 && !reason) reason = errno;
  if (!reason && rename(aside, path_) != 0) reason = errno;
  if (reason)
    unlink(aside);
  else
    made_ = false;
  return {reason, "written"};
}

}  // namespace octet::os
