// SPDX-License-Identifier: Apache-2.0
// Joins works that follow each other without the host between them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engines/onnxruntime/group.h"

namespace octet::onnxruntime {

// A work and the nodes that it stands for.
struct Unit {
  std::vector<size_t> nodes;
  std::unique_ptr<Work> work;
  bool is_float = false;  // of floats alone: taken only beside others
  std::string says = "";  // about its nodes
};

// No way leads out of a group and back into it, given that none leads out of a unit and back. Each
// group's units are in an order in which they run.
std::vector<std::vector<Unit>> join(const HostGraph& host, std::vector<Unit> units);

}  // namespace octet::onnxruntime
