// SPDX-License-Identifier: Apache-2.0
// Keeps a workspace for each thread and the pool of threads between runs.
#include "engines/python/running.h"

#include <new>
#include <string>
#include <utility>

#include "engines/python/errors.h"
#include "octet/octet.h"

namespace octet::python {
namespace {

struct Kept {
  ~Kept() { ::operator delete (data, std::align_val_t{OCTET_ALIGNMENT}); }
  void* data = nullptr;
  size_t bytes = 0;
};
thread_local Kept kept;

}  // namespace

Scratch::Scratch(size_t bytes) : bytes_(bytes), data_(kept.data) {
  if (bytes <= kept.bytes) return;
  data_ = ::operator new (bytes, std::align_val_t{OCTET_ALIGNMENT});
  if (bytes > kKept) return;
  ::operator delete (std::exchange(kept.data, data_), std::align_val_t{OCTET_ALIGNMENT});
  kept.bytes = bytes;
}

Scratch::~Scratch() {
  if (data_ != kept.data) ::operator delete (data_, std::align_val_t{OCTET_ALIGNMENT});
}

engines::Threads threads_of(size_t count) {
  if (count > 4096)
    fail(PyExc_ValueError, "threads is " + std::to_string(count) + ": 0 to 4096 are possible");
  static engines::Threads* const last = new engines::Threads;  // keeps the pool between runs
  engines::Threads threads(count);
  if (threads.count() > 1) *last = threads;
  return threads;
}

}  // namespace octet::python
