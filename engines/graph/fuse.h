// SPDX-License-Identifier: Apache-2.0
// Puts operators together where no byte of the result changes.
#pragma once

#include "engines/graph/graph.h"

namespace octet::graph {

// The graph with its operators in an order in which they can run, fewer of them: padding, additions
// (TFLite's arithmetic), activations and requantizations become part of convolutions and products
// where no other operator and no output of the graph reads the tensor between them. made_of tells
// which operators of `graph` each one stands for. Throws if the graph is none.
Graph fuse(const Graph& graph);

// Only the order.
Graph sort(const Graph& graph);

// Stores tensors of int8 as uint8 where that saves time: sets Tensor::stored_unsigned (stored/), in
// a graph whose operators are in order.
void store_unsigned(Graph* graph);
// Whether products of a tier multiply unsigned bytes only. OCTET_ISA_AUTO: the best one.
bool multiplies_unsigned(octet_isa isa);

}  // namespace octet::graph
