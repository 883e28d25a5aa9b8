// Makes functions of operators that look at windows, at whole images or at places.
#pragma once

#include "engines/graph/sizes.h"
#include "octet/functions.h"

namespace octet::graph {

octet_arithmetic arithmetic_of(const Graph& graph);

bool is_image_function(Kind kind);

// Of one input and one output; the caller's. Throws a sentence if there is no such function.
octet_function* make_image_function(const Graph& graph, const Op& op);

}  // namespace octet::graph
