// SPDX-License-Identifier: Apache-2.0
// Keeps the programs of one model whose inputs have changing sizes.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "engines/graph/program.h"

namespace octet::graph {

// All share their packed weights, so that a further program costs its objects and its plan. It is
// called by many threads at once.
class Programs {
 public:
  // most: how many programs are kept, 0 counts as 1; the one that was asked for the longest ago
  // goes first, and lives on while a caller has it. weights may be null: then they are its own.
  explicit Programs(const ProgramOptions& options, std::shared_ptr<PackedWeights> weights = nullptr,
                    size_t most = 16);

  // The program of the graph, created if there is none yet. All graphs are of one model: they
  // differ in the sizes of tensors, in windows' pads and in the beginnings of slices, and nothing
  // else is compared. Threads that ask for the same new sizes may each create one; all get the one
  // that is kept. On failure *program is null, and the error is that of Program::create.
  octet_status get(const Graph& graph, std::shared_ptr<const Program>* program,
                   octet_error* error) noexcept;
  size_t count() const;  // of programs that are kept

 private:
  struct Kept {
    std::vector<int64_t> key;
    std::shared_ptr<const Program> program;
  };
  std::shared_ptr<const Program> find(const std::vector<int64_t>& key);  // under the mutex

  const ProgramOptions options_;
  const std::shared_ptr<PackedWeights> weights_;
  const size_t most_;
  mutable std::mutex mutex_;
  std::list<Kept> kept_;  // the last one that was asked for first
};

}  // namespace octet::graph
