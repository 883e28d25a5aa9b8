// SPDX-License-Identifier: Apache-2.0
// Runs com.microsoft's MatMulNBits: a product by weights of 4 or 8 bits in scale blocks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engines/graph/objects.h"
#include "engines/onnxruntime/group.h"
#include "engines/onnxruntime/options.h"

namespace octet::onnxruntime {

// Quantizes each block of each row of its input to int8, as accuracy_level 4 allows.
class BlockProduct : public Work {
 public:
  // Packs the weights; throws graph::Refused where Octet does not compute the node.
  BlockProduct(const HostGraph& host, const Node& node, const Shared& shared);

  std::vector<Shape> shapes(const std::vector<Shape>& given) override;
  void run(OrtKernelContext* context, const std::vector<Given>& from,
           const std::vector<void*>& to) override;

 private:
  const size_t threads_;
  size_t n_ = 0, k_ = 0, depth_ = 0;  // depth_: k_ with zeros up to the end of the last block
  graph::Object object_;
  graph::Workspaces memory_;
};

}  // namespace octet::onnxruntime
