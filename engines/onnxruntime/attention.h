// SPDX-License-Identifier: Apache-2.0
// Runs com.microsoft's QAttention: an exact product of bytes, then attention in f32.
#pragma once

#include <string>
#include <vector>

#include "engines/graph/objects.h"
#include "engines/onnxruntime/floats/heads.h"
#include "engines/onnxruntime/node_inputs.h"
#include "engines/onnxruntime/options.h"

namespace octet::onnxruntime {

class Attention : public Work {
 public:
  // quantizer: null, or the DynamicQuantizeLinear whose outputs only this node reads, which the
  // group then runs, too. Packs the weights; throws graph::Refused where Octet does not compute the
  // node.
  Attention(const HostGraph& host, const Node& node, const Node* quantizer, const Shared& shared);

  std::vector<Shape> shapes(const std::vector<Shape>& given) override;
  void run(OrtKernelContext* context, const std::vector<Given>& from,
           const std::vector<void*>& to) override;

 private:
  // A run's input of bytes, and the parts of its memory.
  struct Call {
    const void* bytes;
    float scale;
    int32_t zero_point;
    float* products;
    void* workspace;
    size_t workspace_bytes;
  };

  Given single(const End& end, const char* what, const std::vector<Given>& from) const;
  TokenMask read_mask(const std::vector<Given>& from, int64_t images, int64_t tokens) const;
  void read_numbers(const std::vector<Given>& from, Call* call) const;
  void multiply(OrtKernelContext* context, size_t rows, const Call& call) const;

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
