// Groups of nodes that a session runs as one node, the session's threads, and memory for runs.
#pragma once

#include <memory>
#include <mutex>
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

// As Octet's workspaces begin.
constexpr size_t rounded(size_t bytes) {
  return (bytes + OCTET_ALIGNMENT - 1) / OCTET_ALIGNMENT * OCTET_ALIGNMENT;
}

// Memory that one run has at a time, kept for later runs.
class Memory {
 public:
  // Calls run(void*) with so many bytes at least, at a multiple of OCTET_ALIGNMENT.
  template <typename Run>
  void use(size_t bytes, const Run& run) {
    std::unique_ptr<graph::Blob> blob = take();
    if (!blob || blob->bytes < bytes) blob = std::make_unique<graph::Blob>(bytes);
    run(blob->data);
    const std::lock_guard<std::mutex> lock(mutex_);
    kept_.push_back(std::move(blob));
  }

 private:
  std::unique_ptr<graph::Blob> take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (kept_.empty()) return nullptr;
    std::unique_ptr<graph::Blob> last = std::move(kept_.back());
    kept_.pop_back();
    return last;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<graph::Blob>> kept_;  // that no run uses
};

}  // namespace octet::onnxruntime
