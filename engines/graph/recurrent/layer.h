// SPDX-License-Identifier: Apache-2.0
// Describes a layer with a state to the rest of engines/graph: its scratch memory and its run.
#pragma once

#include <memory>

#include "engines/graph/graph.h"
#include "engines/graph/weights.h"
#include "octet/network.h"

namespace octet::graph::recurrent {

// Where a layer's weights are packed, and for which tier.
struct Packing {
  octet_isa isa;
  PackedWeights* weights;
};

class Layer {
 public:
  Layer() = default;
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  virtual size_t scratch_bytes() const = 0;  // of a run
  // The whole output at once. call's inputs are x and the states, which are written, too. x and the
  // output are one line of rows, `pixel` bytes apart over all images; states are dense. scratch
  // begins at a multiple of OCTET_ALIGNMENT. Called by many threads at once, with other states.
  virtual void run(const octet_network_call& call, uint8_t* scratch) const = 0;
};

// The layer of an operator of the kind. Throws a sentence if it is not of a form that Octet
// computes. packing null: only the question, without the constants' data.
std::unique_ptr<Layer> make_lstm(const Graph& graph, const Op& op, const Packing* packing);
std::unique_ptr<Layer> make_svdf(const Graph& graph, const Op& op, const Packing* packing);

}  // namespace octet::graph::recurrent
