// SPDX-License-Identifier: Apache-2.0
// Sorts units by how often the host comes between them and the first ones.
#include "engines/onnxruntime/groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace octet::onnxruntime {
namespace {

// The graph of units, each node that no unit stands for among them.
class Joiner {
 public:
  Joiner(const HostGraph& host, const std::vector<Unit>& units)
      : taken_(units.size()), unit_(host.nodes.size(), host.nodes.size()) {
    for (size_t u = 0; u < units.size(); ++u)
      for (const size_t node : units[u].nodes) unit_[node] = u;
    size_t count = taken_;
    for (size_t& unit : unit_)
      if (unit == host.nodes.size()) unit = count++;
    before_.resize(count);
    std::vector<int> maker(host.values.size(), -1);
    for (size_t i = 0; i < host.nodes.size(); ++i)
      for (const int t : host.nodes[i].outputs)
        if (t >= 0) maker[(size_t)t] = (int)unit_[i];
    for (size_t i = 0; i < host.nodes.size(); ++i)
      for (const std::vector<int>* ends : {&host.nodes[i].inputs, &host.nodes[i].captured})
        for (const int t : *ends)
          if (t >= 0 && maker[(size_t)t] >= 0 && maker[(size_t)t] != (int)unit_[i])
            before_[unit_[i]].insert((size_t)maker[(size_t)t]);
  }

  // Of each unit: the first one of its group.
  std::vector<size_t> groups() {
    std::vector<size_t> group(before_.size()), level(before_.size());
    std::iota(group.begin(), group.end(), 0);
    const auto root = [&](size_t i) {
      while (group[i] != i) i = group[i] = group[group[i]];
      return i;
    };
    // A unit that reads a tensor that the host makes of Octet's is of a higher level.
    std::vector<char> behind(before_.size());  // units that read what Octet makes
    for (const size_t u : order())
      for (const size_t other : before_[u]) {
        level[u] =
            std::max(level[u], level[other] + (is_taken(u) && !is_taken(other) && behind[other]));
        behind[u] |= is_taken(other) || behind[other];
      }
    for (size_t u = 0; u < taken_; ++u)
      for (const size_t other : before_[u])
        if (is_taken(other) && level[other] == level[u]) {
          const size_t a = root(u), b = root(other);
          group[std::max(a, b)] = std::min(a, b);
        }
    for (size_t u = 0; u < taken_; ++u) group[u] = root(u);
    return group;
  }

  // One in which all units can run.
  std::vector<size_t> order() const {
    std::vector<size_t> found, stack;
    std::vector<char> entered(before_.size());
    const auto enter = [&](size_t u) { entered[u] = 1, stack.push_back(u); };
    for (size_t u = 0; u < before_.size(); ++u) {
      if (!entered[u]) enter(u);
      while (!stack.empty()) {
        const std::set<size_t>& all = before_[stack.back()];
        const auto is_new = [&](size_t other) { return !entered[other]; };
        const auto next = std::find_if(all.begin(), all.end(), is_new);
        if (next != all.end()) {
          enter(*next);
          continue;
        }
        found.push_back(stack.back());
        stack.pop_back();
      }
    }
    return found;
  }

 private:
  bool is_taken(size_t u) const { return u < taken_; }

  const size_t taken_;        // units below it are Octet's
  std::vector<size_t> unit_;  // of each node
  std::vector<std::set<size_t>> before_;
};

}  // namespace

std::vector<std::vector<Unit>> join(const HostGraph& host, std::vector<Unit> units) {
  Joiner joiner(host, units);
  const std::vector<size_t> group = joiner.groups();
  std::map<size_t, std::vector<Unit>> groups;
  for (const size_t u : joiner.order())
    if (u < units.size()) groups[group[u]].push_back(std::move(units[u]));
  std::vector<std::vector<Unit>> all;
  for (auto& [first, joined] : groups) all.push_back(std::move(joined));
  return all;
}

}  // namespace octet::onnxruntime
