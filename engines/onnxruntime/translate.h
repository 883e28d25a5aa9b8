// SPDX-License-Identifier: Apache-2.0
// Translates nodes of an ONNX model into operators of a graph.
#pragma once

#include <functional>
#include <vector>

#include "engines/graph/graph.h"
#include "engines/onnxruntime/host/known.h"

namespace octet::onnxruntime {

// The shape of one output of an operator by those of its inputs, which are all known.
using ShapeRule = std::function<Shape(const std::vector<Shape>& inputs)>;

struct Translation {
  // One operator for each node and one tensor for each value, in their order. A node that is not
  // Octet's has the reason in Op::refused; one whose result is known neither reads nor makes a
  // tensor. Constants are borrowed from the host.
  graph::Graph graph;
  // Of each operator's outputs, in their order; none: only the host knows.
  std::vector<std::vector<ShapeRule>> rules;
};

Translation translate(const HostGraph& host, const Known& known, graph::Arithmetic arithmetic);

}  // namespace octet::onnxruntime
