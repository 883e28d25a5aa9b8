// SPDX-License-Identifier: Apache-2.0
// Gives runs a workspace and threads.
#pragma once

#include <cstddef>

#include "engines/threads/threads.h"

namespace octet::python {

// The workspace of one run on the thread that calls. Each thread keeps the memory of its largest
// run for later ones, up to kKept bytes.
class Scratch {
 public:
  static constexpr size_t kKept = size_t{64} << 20;

  explicit Scratch(size_t bytes);  // throws std::bad_alloc
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  template <typename Args>  // octet_gemm_args, octet_conv2d_args
  void attach(Args* args) const {
    args->workspace = bytes_ ? data_ : nullptr;
    args->workspace_bytes = bytes_;
  }

 private:
  size_t bytes_;
  void* data_;
};

// A share of the process's pool, which stays for later runs. 0 threads: as many as the process may
// use. Called by threads that hold the GIL; throws ValueError above 4096.
engines::Threads threads_of(size_t count);

}  // namespace octet::python
