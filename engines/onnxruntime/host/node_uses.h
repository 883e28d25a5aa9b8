// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph make and read its values.
#pragma once

#include <string>
#include <vector>

#include "engines/onnxruntime/host/host.h"

namespace octet::onnxruntime {

class NodeUses {
 public:
  // without: nodes that do not count as readers, as Known::nodes; null: all count.
  explicit NodeUses(const HostGraph& host, const std::vector<char>* without = nullptr)
      : host_(host), makers_(host.values.size(), -1), readers_(host.values.size()) {
    for (size_t i = 0; i < host.nodes.size(); ++i) {
      for (const std::vector<int>* ends : {&host.nodes[i].inputs, &host.nodes[i].captured})
        for (const int t : *ends)
          if (t >= 0 && !(without && (*without)[i])) readers_[(size_t)t].push_back(i);
      for (const int t : host.nodes[i].outputs)
        if (t >= 0) makers_[(size_t)t] = (int)i;
    }
    is_output_.resize(host.values.size());
    for (const int t : host.outputs)
      if (t >= 0) is_output_[(size_t)t] = 1;
  }

  size_t count() const { return host_.nodes.size(); }  // of nodes
  const Node& node(size_t i) const { return host_.nodes[i]; }
  const Value& value(int t) const { return host_.values[(size_t)t]; }
  bool is(size_t i, const char* domain, const char* op) const {
    return node(i).domain == domain && node(i).op == op && !node(i).taken;
  }
  int input(size_t i, size_t k) const { return k < node(i).inputs.size() ? node(i).inputs[k] : -1; }
  bool is_constant(int t) const { return t >= 0 && value(t).constant; }
  bool is_output(int t) const { return is_output_[(size_t)t]; }  // of the graph
  int maker(int t) const { return t < 0 ? -1 : makers_[(size_t)t]; }
  const std::vector<size_t>& readers(int t) const { return readers_[(size_t)t]; }
  // The only reader of a tensor that the graph does not give out, or -1.
  int reader(int t) const {
    return readers(t).size() == 1 && !is_output(t) ? (int)readers(t)[0] : -1;
  }
  int reader(int t, const char* op) const {
    const int found = reader(t);
    return found >= 0 && is((size_t)found, "", op) ? found : -1;
  }
  // The maker of a tensor that nothing but one node reads, or -1.
  int only_maker(int t, const char* op) const {
    const int found = t < 0 || reader(t) < 0 ? -1 : maker(t);
    return found >= 0 && is((size_t)found, "", op) ? found : -1;
  }
  int other_input(size_t i, int than) const {
    return input(i, 0) == than ? input(i, 1) : input(i, 0);
  }

 protected:
  const HostGraph& host_;

 private:
  std::vector<int> makers_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<char> is_output_;
};

}  // namespace octet::onnxruntime
