// Describes the networks that have names: their convolutions and what little lies between them,
// connected. The suites of `octet bench` that are networks are their convolutions.
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
};

struct GraphOp {
  OpKind kind;
  std::string name;
  octet_conv2d_shape shape;  // of a pooling: kernel, stride, pads
  size_t input, output;
  size_t residual;  // kNoTensor: none
  bool relu;
};

constexpr size_t kNoTensor = SIZE_MAX;

// All tensors are u8.
struct Graph {
  std::string name;
  std::vector<octet_network_tensor> tensors;
  std::vector<GraphOp> ops;
  size_t input = 0;  // tensor
};

// Says which lines of its input an operator that is no convolution reads. run and context are not
// set.
octet_network_function lines_of(const GraphOp& op);
// As a case: padding below and right as far as the output needs it.
ConvShape convolution_of(const Graph& graph, const GraphOp& op);

std::vector<std::string> graph_names();
// "mobilenet_v2", "espcn:1080x1920", "resnet50:224": a name and the size of its input, if not the
// usual one.
bool is_graph(const std::string& name);  // of whatever size
// Throws if there is none, and of a size that cannot be.
Graph make_graph(const std::string& name);

}  // namespace tool
