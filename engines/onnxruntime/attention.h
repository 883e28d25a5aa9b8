// Runs com.microsoft's QAttention: an exact product of bytes, then attention in f32.
#pragma once

#include <string>
#include <vector>

#include "engines/graph/objects.h"
#include "engines/onnxruntime/group.h"
#include "engines/onnxruntime/heads.h"
#include "engines/onnxruntime/options.h"

namespace octet::onnxruntime {

class Attention : public Group {
 public:
  // quantizer: null, or the DynamicQuantizeLinear whose outputs only this node reads, which the
  // group then runs, too. Packs the weights; throws graph::Refused where Octet does not compute the
  // node.
  Attention(const HostGraph& host, const Node& node, const Node* quantizer, const Shared& shared);

  void bind(const std::vector<std::string>& inputs,
            const std::vector<std::string>& outputs) override;
  void run(OrtKernelContext* context) override;

 private:
  // A tensor that the node reads: of each run, or a constant.
  struct End {
    End() = default;
    explicit End(const Value* value);  // null: left out
    bool exists = false, constant = false;
    std::string name;
    size_t index = 0;            // of a run's inputs
    std::vector<int64_t> shape;  // of a constant
    std::vector<uint8_t> bytes;  // of a constant: a copy
  };
  struct Given {
    const void* data;
    std::vector<int64_t> shape;
  };
  // A run's input of bytes, and the parts of its memory.
  struct Call {
    const void* bytes;
    float scale;
    int32_t zero_point;
    float* products;
    void* workspace;
    size_t workspace_bytes;
  };

  Given given(const End& end, OrtKernelContext* context) const;
  Given single(const End& end, const char* what, OrtKernelContext* context) const;
  TokenMask read_mask(OrtKernelContext* context, int64_t images, int64_t tokens) const;
  void read_numbers(OrtKernelContext* context, Call* call) const;
  void multiply(OrtKernelContext* context, size_t rows, const Call& call) const;
  void attend(OrtKernelContext* context, const HeadTasks& tasks, float* scratch) const;

  const size_t threads_;
  const bool quantizes_;
  size_t n_ = 0, k_ = 0, heads_ = 0;
  octet_type type_ = OCTET_U8;  // of the input
  float scale_ = 0;
  TokenMask mask_ = {};  // without its data
  End input_, input_scale_, input_zero_point_, mask_index_;
  Attend attend_ = nullptr;
  graph::Object object_;
  graph::Workspaces memory_;
};

}  // namespace octet::onnxruntime
