// SPDX-License-Identifier: Apache-2.0
// Translates nodes of a LiteRT interpreter into operators of a graph.
#pragma once

#include <tensorflow/lite/core/c/common.h>

#include <string>
#include <vector>

#include "engines/graph/graph.h"

namespace octet::litert {

// How results are rounded. in_double: of "reference", whether FULLY_CONNECTED is rounded once.
struct Rounding {
  graph::Arithmetic arithmetic = graph::Arithmetic::kTflite;
  bool in_double = true;
};

// A graph with one operator for each of the nodes, in their order. Tensors have the interpreter's
// numbers; those that no node reads or writes are left empty. A node that the translation does not
// know has the reason in Op::refused. Constants are borrowed from the interpreter. Throws
// std::bad_alloc only.
graph::Graph translate(TfLiteContext* context, const std::vector<int>& nodes,
                       const Rounding& rounding);

// "SELECT_V2", or "custom operator 'name'".
std::string operator_name(int builtin_code, const char* custom_name);

}  // namespace octet::litert
