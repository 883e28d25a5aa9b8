// SPDX-License-Identifier: Apache-2.0
// Windows: memory, the clock, registers and files. Paths are in the process's code page, as
// getenv's values are.
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "dispatch/os/os.h"
#include "dispatch/os/read_all.h"
#include "kernels/core/strict_float.h"

namespace octet::os {
namespace {

constexpr size_t kPathMost = 4032;
constexpr int kTriesMost = 100, kTryMilliseconds = 10;

// 0, kNoRegularFile or ENOENT, and so on. The C library opens no folder, and says EACCES of it.
int reason_against(const char* path) {
  struct _stat64 named;
  if (_stat64(path, &named) != 0) return errno;
  return (named.st_mode & _S_IFMT) == _S_IFREG ? 0 : kNoRegularFile;
}

int write_all(int file, const char* text, size_t bytes) {
  while (bytes > 0) {
    const int written = _write(file, text, bytes < 1 << 20 ? (unsigned)bytes : 1u << 20);
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    text += written;
    bytes -= (size_t)written;
  }
  return _commit(file) == 0 ? 0 : errno;
}

// A mutex of this name is the lock of a path: Windows replaces no file that is open. Two paths with
// one name only wait for each other.
void name_lock(const char* path, char (&name)[64]) {
  uint64_t hash = 14695981039346656037u;
  for (; *path; ++path) {
    const char letter = *path >= 'A' && *path <= 'Z' ? (char)(*path - 'A' + 'a') : *path;
    hash = (hash ^ (uint8_t)letter) * 1099511628211u;
  }
  snprintf(name, sizeof name, "Global\\octet-%08lx%08lx", (unsigned long)(hash >> 32),
           (unsigned long)(hash & 0xffffffff));
}

// A file with a new name beside the path.
int open_aside(const char* path, char (&aside)[kPathMost + 32]) {
  for (unsigned i = 0; i < 100; ++i) {
    const unsigned long some = GetCurrentProcessId() * 2654435761u + GetTickCount() + i;
    snprintf(aside, sizeof aside, "%s.new-%06lx", path, some & 0xffffff);
    const int file = _open(aside, _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT,
                           _S_IREAD | _S_IWRITE);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

// Others may read the file that is replaced, which Windows refuses meanwhile: it is tried for a
// second.
int rename_over(const char* from, const char* to) {
  for (int tries = 0;; ++tries) {
    if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) return 0;
    switch (GetLastError()) {
      case ERROR_ACCESS_DENIED:
      case ERROR_SHARING_VIOLATION:
        if (tries == kTriesMost) return EACCES;
        Sleep(kTryMilliseconds);
        continue;
      case ERROR_DISK_FULL: return ENOSPC;
      case ERROR_FILE_NOT_FOUND:
      case ERROR_PATH_NOT_FOUND: return ENOENT;
      default: return EIO;
    }
  }
}

}  // namespace

void* allocate(size_t bytes, size_t alignment) { return _aligned_malloc(bytes, alignment); }

void release(void* memory) { _aligned_free(memory); }

double microseconds() {
  LARGE_INTEGER ticks, per_second;
  QueryPerformanceFrequency(&per_second);
  QueryPerformanceCounter(&ticks);
  return (double)ticks.QuadPart * 1e6 / (double)per_second.QuadPart;
}

bool request_tiles() { return false; }

size_t read_beginning(const char* path, char* text, size_t room) {
  const int file = _open(path, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
  if (file < 0) return 0;
  const int length = _read(file, text, (unsigned)room);
  _close(file);
  return length > 0 ? (size_t)length : 0;
}

int read_whole(const char* path, size_t most, char** text, size_t* bytes) {
  *text = nullptr, *bytes = 0;
  if (const int reason = reason_against(path)) return reason;
  const int file = _open(path, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
  if (file < 0) return errno;
  const auto read = [&](char* to, size_t room) {
    return (ptrdiff_t)_read(file, to, room < 1 << 30 ? (unsigned)room : 1u << 30);
  };
  const int reason = read_all(read, most, text, bytes);
  _close(file);
  return reason;
}

Replacement::~Replacement() { release(); }

void Replacement::release() {
  if (lock_ != -1) {
    ReleaseMutex((HANDLE)lock_);
    CloseHandle((HANDLE)lock_);
  }
  free(path_);
  lock_ = -1, path_ = nullptr, made_ = false;
}

Failure Replacement::begin(const char* path) {
  const int reason = reason_against(path);
  if (reason && reason != ENOENT) return {reason, "opened for writing"};
  path_ = _fullpath(nullptr, path, kPathMost);
  if (!path_) return {errno, "followed"};
  char name[64];
  name_lock(path_, name);
  const HANDLE mutex = CreateMutexA(nullptr, FALSE, name);
  if (!mutex) return {};  // another user's: the last writer wins
  WaitForSingleObject(mutex, INFINITE);
  lock_ = (intptr_t)mutex;
  return {};
}

Failure Replacement::write(const char* text, size_t bytes) {
  char aside[kPathMost + 32];
  const int file = open_aside(path_, aside);
  if (file < 0) return {errno, "written aside, with .new-XXXXXX behind its name"};
  int reason = write_all(file, text, bytes);
  if (_close(file) != 0 && !reason) reason = errno;
  if (!reason) reason = rename_over(aside, path_);
  if (reason) _unlink(aside);
  return {reason, "written"};
}

}  // namespace octet::os
