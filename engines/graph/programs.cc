// SPDX-License-Identifier: Apache-2.0
// Finds programs by the sizes in their graphs.
#include "engines/graph/programs.h"

#include <algorithm>

#include "engines/graph/refused.h"

namespace octet::graph {
namespace {

std::vector<int64_t> key_of(const Graph& g) {
  std::vector<int64_t> key;
  for (const Tensor& t : g.tensors) {
    if (t.constant) continue;
    key.push_back(t.shape_known ? (int64_t)t.shape.size() : -1);
    key.insert(key.end(), t.shape.begin(), t.shape.end());
  }
  for (const Op& op : g.ops) {
    const Window& w = op.window;
    for (const size_t size : {w.kernel_h, w.kernel_w, w.top, w.bottom, w.left, w.right})
      key.push_back((int64_t)size);
    for (const auto* places : {&op.begins, &op.sizes})
      key.insert(key.end(), places->begin(), places->end());
  }
  return key;
}

}  // namespace

Programs::Programs(const ProgramOptions& options, std::shared_ptr<PackedWeights> weights,
                   size_t most)
    : options_(options),
      weights_(weights ? std::move(weights) : std::make_shared<PackedWeights>()),
      most_(std::max<size_t>(most, 1)) {}

std::shared_ptr<const Program> Programs::find(const std::vector<int64_t>& key) {
  const auto found =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.key == key; });
  if (found == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found);
  return found->program;
}

octet_status Programs::get(const Graph& graph, std::shared_ptr<const Program>* program,
                           octet_error* error) noexcept {
  return guarded(error, [&] {
    if (!program) throw Refused(OCTET_NULL_POINTER, "program is null");
    program->reset();
    std::vector<int64_t> key = key_of(graph);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if ((*program = find(key))) return;
    }
    std::unique_ptr<Program> made;
    octet_error failed = {};
    check(Program::create(graph, options_, weights_, &made, &failed), failed);
    std::list<Kept> added;
    added.push_back({std::move(key), std::move(made)});
    const std::lock_guard<std::mutex> lock(mutex_);
    if ((*program = find(added.front().key))) return;
    *program = added.front().program;
    kept_.splice(kept_.begin(), added);
    if (kept_.size() > most_) added.splice(added.begin(), kept_, std::prev(kept_.end()));
  });
}

size_t Programs::count() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return kept_.size();
}

}  // namespace octet::graph
