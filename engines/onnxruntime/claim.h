// SPDX-License-Identifier: Apache-2.0
// Finds the nodes of a graph that Octet runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engines/onnxruntime/group.h"
#include "engines/onnxruntime/host/known.h"
#include "engines/onnxruntime/options.h"

namespace octet::onnxruntime {

struct Claim {
  std::vector<const OrtNode*> nodes;
  std::unique_ptr<Group> group;
};

// Groups of nodes without a way out of one and back into it. say: gets a sentence about each group
// and about each node that stays with the host, with the reason.
std::vector<Claim> claim(const HostGraph& host, const Known& known,
                         std::shared_ptr<const Shared> shared,
                         const std::function<void(const std::string&)>& say);

}  // namespace octet::onnxruntime
