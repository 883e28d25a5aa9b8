// SPDX-License-Identifier: Apache-2.0
// Runs operators of f32 that stand between quantized products, with the same bytes on every CPU.
#pragma once

#include "engines/onnxruntime/floats/heads.h"
#include "engines/onnxruntime/floats/loops.h"
#include "engines/onnxruntime/node_inputs.h"

namespace octet::onnxruntime {

// Attention of all heads in tasks on the session's threads.
void attend(OrtKernelContext* context, const HeadTasks& tasks, float* scratch);

// LayerNormalization over the last axis, of the sum of up to two tensors and a bias.
class Normalization : public Work {
 public:
  // Values of the host's, null where there are none. sum: an output, too.
  struct Ends {
    const Value *x, *added, *bias, *scale, *shift, *sum, *y;
  };
  Normalization(const Ends& ends, float epsilon, size_t threads);

  std::vector<Shape> shapes(const std::vector<Shape>& given) override;
  void run(OrtKernelContext* context, const std::vector<Given>& from,
           const std::vector<void*>& to) override;

 private:
  const float epsilon_;
  const size_t threads_;
  const FloatLoops loops_ = best_loops();
  const bool gives_sum_;
  End x_, added_, bias_, scale_, shift_;
  graph::Workspaces memory_;
};

// GELU, of the sum of a tensor and a bias of the last axis.
class GeluWork : public Work {
 public:
  GeluWork(const Value& x, const Value* bias, const Value& y, size_t threads);  // bias: or null

  std::vector<Shape> shapes(const std::vector<Shape>& given) override;
  void run(OrtKernelContext* context, const std::vector<Given>& from,
           const std::vector<void*>& to) override;

 private:
  const size_t threads_;
  const FloatLoops loops_ = best_loops();
  End x_, bias_;
};

// Attention of heads that lie side by side in Q, K, V and the output.
class HeadsWork : public Work {
 public:
  struct Ends {
    const Value *queries, *keys, *values, *mask, *y;  // mask: of floats, or null
  };
  HeadsWork(const Ends& ends, size_t heads, size_t depth, float scale, size_t threads);

  std::vector<Shape> shapes(const std::vector<Shape>& given) override;
  void run(OrtKernelContext* context, const std::vector<Given>& from,
           const std::vector<void*>& to) override;

 private:
  const size_t heads_, depth_;
  const float scale_;
  const size_t threads_;
  const Attend attend_ = best_loops().attend;
  End queries_, keys_, values_, mask_;
  graph::Workspaces memory_;
};

}  // namespace octet::onnxruntime
