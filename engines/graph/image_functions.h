// SPDX-License-Identifier: Apache-2.0
// Makes functions of operators that look at windows, at whole images or at places.
#pragma once

#include "engines/graph/copies.h"
#include "octet/functions.h"

namespace octet::graph {

octet_arithmetic arithmetic_of(const Graph& graph);
// ONNX Runtime has no function on bytes of two types, or with an activation that the type of the
// output does not imply: it computes such an operator as the standard writes it.
octet_arithmetic arithmetic_of(const Graph& graph, const Op& op);

bool is_image_function(Kind kind);

// Of one input and one output; the caller's. Throws a sentence if there is no such function.
octet_function* make_image_function(const Graph& graph, const Op& op);

// Whether it is a slice of some images.
bool takes_images(const Graph& graph, const Op& op);

// kTranspose, kDepthToSpace, kSpaceToDepth and slices of images, which the library has not; throws.
bool is_move(Kind kind);
Function make_move(const Graph& graph, const Op& op);

// kMean as ONNX Runtime's ReduceMean of f32 adds pixels: of planes in the graph's order of axes, a
// line of the output for each. Whether an operator is one, and its function; throws.
bool is_mean_of_planes(const Graph& graph, const Op& op);
Function make_mean_of_planes(const Graph& graph, const Op& op);

}  // namespace octet::graph
