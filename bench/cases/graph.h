// SPDX-License-Identifier: Apache-2.0
// Describes the named networks: their convolutions and the few other ops, connected. A suite of
// `octet bench` that is a network has its convolutions.
#pragma once

#include <string>
#include <vector>

#include "bench/problems/conv_shape.h"
#include "octet/network.h"

namespace tool {

enum class OpKind {
  kConvolution,
  kPool,    // the largest value of windows
  kDeeper,  // depth to space: channels become pixels, `kernel` times as many along each axis
  kProduct  // of pixels as rows
};

struct GraphOp {
  OpKind kind;
  std::string name;
  octet_conv2d_shape shape;  // a pooling's: kernel, stride, pads
  size_t input, output;
  size_t residual;  // kNoTensor: none
  bool relu;
};

constexpr size_t kNoTensor = SIZE_MAX;

// All tensors are u8. Inputs and outputs are kept.
struct Graph {
  std::string name;
  std::vector<octet_network_tensor> tensors;
  std::vector<GraphOp> ops;
};

// The convolution as a case: padding below and right is as large as the output needs.
ConvShape convolution_of(const Graph& graph, const GraphOp& op);

std::vector<std::string> graph_names();
// "mobilenet_v2", "espcn:1080x1920", "resnet50:224": a name and the size of its input, if not the
// usual one.
bool is_graph(const std::string& name);  // of any size
// Throws Error if there is none, or if the size is impossible.
Graph make_graph(const std::string& name);

}  // namespace tool
