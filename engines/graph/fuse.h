// Puts operators together where no byte of the result changes.
#pragma once

#include "engines/graph/graph.h"

namespace octet::graph {

// The graph with its operators in an order in which they can run, fewer of them: padding, additions
// (TFLite's arithmetic), activations and requantizations become part of convolutions and products
// where no other operator and no output of the graph reads what is between. made_of tells which
// operators of `graph` each one stands for. Throws if the graph is none.
Graph fuse(const Graph& graph);

// Only the order.
Graph sort(const Graph& graph);

// Marks tensors of int8 between operators that do not mind as stored_unsigned, in a graph whose
// operators are in order: x86 multiplies unsigned by signed bytes, so that kernels turn the upper
// bit of each byte of int8 that they read, which with 16 columns takes as long as to multiply it.
void store_unsigned(Graph* graph);

}  // namespace octet::graph
