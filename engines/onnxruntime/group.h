// Groups of nodes that a session runs as one node, the session's threads, and memory for runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engines/graph/weights.h"
#include "engines/onnxruntime/host.h"

namespace octet::onnxruntime {

class Group {
 public:
  virtual ~Group() = default;
  // The node's inputs and outputs, in the order in which runs have them. Throws.
  virtual void bind(const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs) = 0;
  virtual void run(OrtKernelContext* context) = 0;  // by many threads at once; throws
};

// Runs tasks on the session's threads: an octet_parallel_for whose context is the node's.
inline void run_tasks(void* context, size_t count, void (*task)(void*, size_t), void* arg) {
  OrtStatus* const status = host.api->KernelContext_ParallelFor((const OrtKernelContext*)context,
                                                                task, count, count, arg);
  if (!status) return;
  host.api->ReleaseStatus(status);  // nothing has run
  for (size_t i = 0; i < count; ++i) task(arg, i);
}

// Lends the session's threads to a run of Octet.
template <typename Args>
void lend(OrtKernelContext* context, size_t threads, Args* args) {
  if (threads <= 1) return;
  args->concurrency = threads, args->parallel_for = run_tasks, args->parallel_context = context;
}

}  // namespace octet::onnxruntime
