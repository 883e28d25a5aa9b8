// SPDX-License-Identifier: Apache-2.0
// Nodes that a session runs as one node: computations after each other, and memory between them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engines/graph/weights.h"
#include "engines/onnxruntime/host/host.h"
#include "engines/onnxruntime/recent.h"

namespace octet::onnxruntime {

// A tensor of a run.
struct Given {
  const void* data;
  Shape shape;
};

// Computes some tensors from others.
class Work {
 public:
  virtual ~Work() = default;

  // The names of tensors that runs read and make. Constants are not among them: a work has copies.
  std::vector<std::string> inputs, outputs;

  // Of the outputs, by those of the inputs. Many threads call both at once; both throw.
  virtual std::vector<Shape> shapes(const std::vector<Shape>& given) = 0;
  virtual void run(OrtKernelContext* context, const std::vector<Given>& from,
                   const std::vector<void*>& to) = 0;
};

class Group {
 public:
  // works: in an order in which they run.
  Group(const HostGraph& host, std::vector<std::unique_ptr<Work>> works);

  bool makes(const std::string& name) const;  // a tensor
  // The node's inputs and outputs, in the order in which runs have them. Throws.
  void bind(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);
  void run(OrtKernelContext* context);  // by many threads at once; throws

 private:
  struct Tensor {
    size_t bytes = 0;             // of an element
    int input = -1, output = -1;  // of the node
    size_t first = 0, last = 0;   // the works that make it and that read it last
  };
  // All for some shapes of the inputs.
  struct Planned {
    std::vector<Shape> shapes;   // of each tensor
    std::vector<size_t> places;  // of each tensor, where it lies in the run's memory
    size_t bytes = 0;
  };
  std::shared_ptr<const Planned> plan(const std::vector<Shape>& inputs) const;
  void place(Planned* planned) const;

  const std::vector<std::unique_ptr<Work>> works_;
  std::vector<std::vector<size_t>> from_, to_;  // of each work: tensors
  std::vector<std::string> names_;              // of each tensor
  std::vector<Tensor> tensors_;
  Recent<std::vector<Shape>, Planned> planned_;
  graph::Workspaces memory_;
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
