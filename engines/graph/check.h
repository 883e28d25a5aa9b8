// SPDX-License-Identifier: Apache-2.0
// Checks a graph before anything is made of it.
#pragma once

#include <cstddef>
#include <vector>

#include "engines/graph/graph.h"

namespace octet::graph {

// Throws a sentence about what no graph may be: indices of nothing, sizes that leave size_t,
// constants that are too small, scales that are no numbers where Octet reads them, tensors that two
// operators make or none, constants as outputs, circles. Returns the operators in an order in which
// they can run.
std::vector<size_t> check_graph(const Graph& graph);

// An operator that stays with the engine, whatever it is.
inline bool is_foreign(const Op& op) { return op.kind == Kind::kOther || !op.refused.empty(); }

// Elements of a shape whose sizes are all known; throws if they leave ptrdiff_t.
size_t element_count(const Tensor& tensor);
size_t type_bytes(octet_type type);  // 1 or 4
// Of an array of so many elements, two in a byte where they have 4 bits.
size_t bytes_of(size_t elements, octet_type type);
size_t byte_count(const Graph& graph, int tensor);  // of a tensor with a type
bool known_sizes(const Tensor& tensor);

// "tensor 7 ('name')".
std::string tensor_name(const Graph& graph, int tensor);
// "the op's name", or "ops[3]".
std::string op_name(const Graph& graph, size_t op);

// Of each tensor: the op that makes it, or -1; and how many ops and outputs of the graph read it.
std::vector<int> makers_of(const Graph& graph);
std::vector<int> readers_of(const Graph& graph);

}  // namespace octet::graph
