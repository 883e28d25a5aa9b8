// SPDX-License-Identifier: Apache-2.0
// Reads the tensors of a layer with a state, and refuses tensors that no layer computes with.
#pragma once

#include "engines/graph/check.h"
#include "engines/graph/graph.h"
#include "engines/graph/recurrent/fixed_point.h"

namespace octet::graph::recurrent {

// The tensors of one operator. All functions throw a sentence.
class Operands {
 public:
  // Checks the demands of all layers: TensorFlow Lite's arithmetic, an x and an output of int8.
  Operands(const Graph& graph, const Op& op, size_t inputs);

  bool has(size_t i) const { return op_.inputs[i] >= 0; }
  const Tensor& input(size_t i) const;  // that is not left out
  const Tensor& output() const { return graph_.tensors[(size_t)op_.outputs[0]]; }

  // A constant matrix of whole zero points 0 and one scale.
  const Tensor& weights(size_t i, octet_type type, size_t rows, size_t columns) const;
  // A constant of int32 with n values.
  const Tensor& bias(size_t i, size_t n) const;
  // A variable with n values and one scale that nothing else reads.
  const Tensor& state(size_t i, octet_type type, size_t n) const;
  // A size of input i, which has this rank.
  size_t size(size_t i, size_t rank, size_t axis) const;
  std::string name(size_t i) const { return tensor_name(graph_, op_.inputs[i]); }

 private:
  const Graph& graph_;
  const Op& op_;
};

// The multiplier of a factor, as TensorFlow Lite makes it. Throws.
Rescale rescale_of(double factor);

}  // namespace octet::graph::recurrent
