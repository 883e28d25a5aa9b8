// SPDX-License-Identifier: Apache-2.0
// Looks for ways out of a set of nodes and back into it.
#include "engines/onnxruntime/host/whole.h"

#include <algorithm>

namespace octet::onnxruntime {

void add_known(const NodeUses& uses, const Known& known, const std::set<size_t>& taken,
               std::set<size_t>* nodes) {
  std::set<size_t> added;
  for (size_t i = uses.count(); i-- > 0;) {
    const bool is_shape = !known.nodes[i];
    if (taken.count(i) || (is_shape && uses.node(i).op != "DequantizeLinear")) continue;
    const int t = uses.node(i).outputs[0];
    const auto inside = [&](size_t reader) {
      return added.count(reader) || (!is_shape && nodes->count(reader));
    };
    const std::vector<size_t>& readers = uses.readers(t);
    if (!readers.empty() && !uses.is_output(t) &&
        std::all_of(readers.begin(), readers.end(), inside))
      added.insert(i);
  }
  nodes->insert(added.begin(), added.end());
}

Hindrance find_hindrance(const NodeUses& uses, const std::set<size_t>& nodes,
                         const std::set<int>& made) {
  const auto inside = [&](size_t node) { return nodes.count(node) != 0; };
  std::vector<char> behind(uses.count());  // others that read what comes of these
  for (size_t i = 0; i < uses.count(); ++i) {
    const Node& node = uses.node(i);
    for (const std::vector<int>* ends : {&node.inputs, &node.captured})
      for (const int t : *ends) {
        const int maker = uses.maker(t);
        if (maker < 0) continue;
        if (inside(i) && behind[(size_t)maker])
          return {i, "it needs '" + uses.value(t).name +
                         "', which ONNX Runtime computes of the same network"};
        behind[i] |= !inside(i) && (inside((size_t)maker) || behind[(size_t)maker]);
      }
    for (const int t : node.outputs) {
      if (!inside(i) || t < 0 || made.count(t)) continue;
      const std::vector<size_t>& readers = uses.readers(t);
      if (uses.is_output(t) || !std::all_of(readers.begin(), readers.end(), inside))
        return {i,
                "others read '" + uses.value(t).name + "', which is not quantized in the network"};
    }
  }
  return {};
}

}  // namespace octet::onnxruntime
