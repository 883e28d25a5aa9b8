// SPDX-License-Identifier: Apache-2.0
// Lends the threads of the process's one pool to runs of Octet.
#pragma once

#include <cstddef>
#include <memory>

#include "octet/octet.h"

namespace octet::engines {

// The number of CPUs that the process may use, by its affinity mask: at least 1.
size_t usable_cpus();

// The pool of a module (a delegate, Python's module), for all modules of the process: each of them
// has a copy of this library, and only the one that was loaded first has threads.
struct PoolFunctions {
  void* (*take)(size_t count);  // a share of a pool of at least so many threads; null: refused
  void (*give)(void* share);
  octet_parallel_for run;  // its context is a share
};
const PoolFunctions* own_pool();  // of this copy

// To be written once in a module, outside of all namespaces, so that others find its pool.
#define OCTET_ENGINES_OFFER_POOL                                                               \
  extern "C" __attribute__((visibility("default"), used)) const octet::engines::PoolFunctions* \
  octet_engines_pool_1() {                                                                     \
    return octet::engines::own_pool();                                                         \
  }

// A share of the process's pool. A copy is another share. A run never waits for the pool: while
// another run has it, or where a task of a run starts a run of its own, the tasks of the later run
// take place on the thread that called it.
class Threads {
 public:
  // For runs of up to `count` tasks at once, one of them on the thread that calls; 0 means
  // usable_cpus(). The pool grows when a share asks for more threads than it has, and ends with its
  // last share. Where the system refuses the threads, count() is 1.
  explicit Threads(size_t count = 1);

  size_t count() const { return pool_ ? count_ : 1; }

  // Sets parallel_for, parallel_context and concurrency of a run's arguments: octet_gemm_args,
  // octet_conv2d_args, octet_network_args. The run borrows this object.
  template <typename Args>
  void lend(Args* args) const {
    if (!pool_) return;
    args->parallel_for = from_->run;
    args->parallel_context = pool_.get();
    args->concurrency = count_;
  }

 private:
  size_t count_;
  const PoolFunctions* from_ = nullptr;
  std::shared_ptr<void> pool_;  // null: runs take place on the thread that calls
};

}  // namespace octet::engines
