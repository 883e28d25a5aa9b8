// SPDX-License-Identifier: Apache-2.0
// Calls of the operating system beyond standard C: memory, a clock, registers, files. The files
// posix* are for POSIX, windows.cc is for Windows. dispatch/cpu/features.cc asks a system about its
// CPU.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet::os {

// Null if there is no memory. `alignment`: a power of two, and a multiple of sizeof(void*).
void* allocate(size_t bytes, size_t alignment);
void release(void* memory);  // of allocate; null is ignored

// Asks for the tile registers of AMX, for all threads of the process, for good. False where the
// system has no such request (Linux before 5.16, others) or refuses it: a filter of system calls,
// an alternate signal stack that is too small for a tile's state.
bool request_tiles();

double microseconds();  // of a clock that never goes back

// ---- files: reasons are errno's numbers, 0 for none

constexpr int kNoRegularFile = -1;  // a reason beside these: a folder, a pipe, a device

// Reads the beginning of a file, without allocating, and returns its bytes; 0 if there are none.
size_t read_beginning(const char* path, char* text, size_t room);

// Reads a whole regular file of at most `most` bytes, else EFBIG. The caller frees *text; it is
// null if there is a reason.
int read_whole(const char* path, size_t most, char** text, size_t* bytes);

// A reason, and what could not be done: "path cannot be STEP".
struct Failure {
  int reason;
  const char* step;
};

// Replaces a file as a whole, in turn with other writers of it. Where the system has no locks, the
// last writer wins.
class Replacement {
 public:
  Replacement() = default;
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement();

  // Waits for the other writers. The file need not be there.
  Failure begin(const char* path);
  // Call once, after begin. If it fails, the file is as it was.
  Failure write(const char* text, size_t bytes);

 private:
  void release();

  intptr_t lock_ = -1;
  char* path_ = nullptr;  // links are resolved, so that a link goes on leading to the file
  bool made_ = false;     // POSIX: begin() made the file; it is removed unless it is replaced
};

}  // namespace octet::os
