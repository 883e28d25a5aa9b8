// SPDX-License-Identifier: Apache-2.0
// Places a graph's tensors in a network: sizes, channel order, aliases, slices, copies.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engines/graph/copies.h"
#include "engines/graph/graph.h"
#include "octet/network.h"

namespace octet::graph {

// An op of the network: a convolution or a product of the graph, or a function.
struct PlacedOp {
  size_t op;  // of the graph: the one that it is, or that it was made for
  bool is_product = false;
  bool has_state = false;  // a function that make_objects makes
  Function function;       // else
  std::vector<size_t> inputs;
  size_t output = 0;
};

struct PlacedGraph {
  std::vector<octet_network_tensor> tensors;
  std::vector<PlacedOp> ops;
  // Kept tensors with the bytes of constants, dense, as many images as others have.
  std::vector<std::pair<size_t, std::vector<uint8_t>>> constants;
  // The network's tensor of each of the graph's ends; kNowhere: an input that nothing reads.
  std::vector<size_t> inputs, outputs;
  // A slice of images lies in a tensor of one image: no run of fewer images is possible.
  bool cuts_images = false;
};
constexpr size_t kNowhere = SIZE_MAX;

// Of a graph whose operators are in order (fuse.h). Throws a sentence with the operator's name if a
// tensor cannot lie as it needs it.
PlacedGraph place(const Graph& graph);

// The first operator that has no place, and why; its number is that of operators if each has one.
// Constants' data may be null.
std::pair<size_t, std::string> first_unplaced(const Graph& graph);

}  // namespace octet::graph
