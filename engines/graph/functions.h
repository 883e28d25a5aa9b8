// SPDX-License-Identifier: Apache-2.0
// Makes functions of a network of the operators that are no products.
#pragma once

#include "engines/graph/copies.h"
#include "engines/graph/graph.h"
#include "octet/functions.h"

namespace octet::graph {

// How an operator's tensors have to lie.
enum class Place {
  kElements,  // all alike, in any sizes
  kImages,    // in the sizes of images, channels last
  kRows       // in the sizes of their own shapes, the last axis as channels
};
Place place_of(const Graph& graph, const Op& op);

// Tells the input that is one pixel for all of the output; throws if the inputs fit otherwise. A
// constant may have fewer axes, the last ones, and one image for all.
octet_broadcast broadcast_of(const Graph& graph, const Op& op);

bool is_binary(Kind kind);  // kAdd, kSubtract, kMultiply

// Whether the operator is a function of one or two inputs, and not a product, an alias or a
// concatenation.
bool is_function(Kind kind);

// Throws a sentence if there is no such function.
Function make_function(const Graph& graph, const Op& op);

}  // namespace octet::graph
