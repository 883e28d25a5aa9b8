// SPDX-License-Identifier: Apache-2.0
// Answers which operators of a graph Octet would run, before weights are there.
#pragma once

#include <string>
#include <vector>

#include "engines/graph/graph.h"

namespace octet::graph {

// A sentence for each operator that is refused, with the condition that it does not meet; empty for
// the others. Constants' data may be null. A malformed graph is refused as a whole: each operator
// has the reason. Never throws but for want of memory.
std::vector<std::string> would(const Graph& graph);

}  // namespace octet::graph
