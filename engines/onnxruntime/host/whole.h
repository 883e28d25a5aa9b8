// SPDX-License-Identifier: Apache-2.0
// Finds out which nodes the host cannot run as one, and which nodes come with others.
#pragma once

#include <set>
#include <string>

#include "engines/onnxruntime/host/known.h"
#include "engines/onnxruntime/host/node_uses.h"

namespace octet::onnxruntime {

// Adds nodes whose results are known and that only these nodes read, and DequantizeLinears of which
// they need but the shape. taken: nodes that run elsewhere.
void add_known(const NodeUses& uses, const Known& known, const std::set<size_t>& taken,
               std::set<size_t>* nodes);

// One of the nodes, and why it cannot run as one with the others; an empty sentence: nothing.
struct Hindrance {
  size_t node = 0;
  std::string why;
};
// made: the tensors that the nodes make for others.
Hindrance find_hindrance(const NodeUses& uses, const std::set<size_t>& nodes,
                         const std::set<int>& made);

}  // namespace octet::onnxruntime
