// SPDX-License-Identifier: Apache-2.0
// Makes tables of operators that look up each byte by itself.
#pragma once

#include "engines/graph/sizes.h"
#include "octet/functions.h"

namespace octet::graph {

// Whether the operator looks up bytes: an activation, a requantization, logistic and its like.
bool is_table(const Graph& graph, const Op& op);
bool is_table(Kind kind);

octet_unary unary_of(Kind kind);  // OCTET_UNARY_REQUANTIZE of all that are no function of their own

// The 256 bytes of such an operator; throws if it is none, or none that is known.
std::vector<uint8_t> table_of(const Graph& graph, const Op& op);

// The table that gives `from`'s bytes the quantization of `to`, where tensors are joined; empty if
// they are alike.
std::vector<uint8_t> join_table(const Graph& graph, const Tensor& from, const Tensor& to);

}  // namespace octet::graph
