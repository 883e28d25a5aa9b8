// SPDX-License-Identifier: Apache-2.0
// Makes graphs for engines/graph: of described models, in TensorFlow Lite's or ONNX Runtime's
// arithmetic, and of the networks that have names.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/machine/api.h"
#include "bench/problems/filter_limits.h"
#include "engines/graph/products.h"
#include "engines/graph/program.h"

namespace tool {

struct RunnableNetwork {
  std::string name;
  octet::graph::Graph graph;
  std::vector<std::vector<char>> data = {};  // of constants
  std::shared_ptr<octet::graph::PackedWeights> weights =
      std::make_shared<octet::graph::PackedWeights>();
  // The numbers of the graph's inputs and outputs in the model.
  std::vector<int> inputs = {}, outputs = {};
  // Lines about operators that are not computed and outputs that are not written.
  std::vector<std::string> left_out = {};
  size_t operator_count = 0, runs = 0;  // the model's, and how many of these are computed
  std::map<std::string, std::string> layers = {};  // a model's names of the graph's operators

  // Throws, with the network's name.
  std::unique_ptr<octet::graph::Program> create(const octet::graph::ProgramOptions& options) const;
  // The effect of weights_max, octet_conv2d_limit_packed's limit, on all filters together.
  FilterLimits limits(octet_isa isa, size_t weights_max) const;
};

// batch: a multiple of the model's images. Leaves out operators that Octet does not compute. Throws
// an error that names the fault of the file, or these operators if no other is left. as: the engine
// whose bytes it has, as read_described has it.
RunnableNetwork read_runnable(const std::string& path, octet_isa isa, size_t batch,
                              const std::string& as);

// A network of bench/cases/graph.h, or the cases of a list one after the other, with random
// weights. types: of inputs and tensors inside, of weights, and of outputs.
RunnableNetwork named_network(const std::string& name, size_t batch,
                              const std::string& types = "u8s8u8");

// One of both. Prints on stderr what a description has that does not run. types: of a named one.
RunnableNetwork runnable_network(const std::string& name, octet_isa isa, size_t batch,
                                 const std::string& as, const std::string& types = "u8s8u8");

// A convolution or a product before its weights are packed.
struct DescribedLayer {
  std::string network, name, shape;                     // shape: a case
  const octet::graph::ProductDescription& description;  // valid until the next one is read
};
using LayerVisitor = std::function<void(const DescribedLayer&)>;

// Reads only the convolutions and products, each by itself, even if Octet does not compute their
// inputs. Returns lines about left-out ones.
std::vector<std::string> each_layer(const std::string& path, const LayerVisitor& visitor);

}  // namespace tool
