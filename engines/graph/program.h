// SPDX-License-Identifier: Apache-2.0
// Runs a graph as one network that owns its packed weights.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/graph/graph.h"
#include "engines/graph/weights.h"
#include "octet/network.h"

namespace octet::graph {

struct ProgramOptions {
  octet_network_goal goal = OCTET_NETWORK_TIME;
  size_t concurrency = 1;  // most tasks of a run
  octet_isa isa = OCTET_ISA_AUTO;
  const octet_machine* machine = nullptr;  // that plans are for; copied; null: this one
  // Of all convolutions; forced, those that could be products stay convolutions. An approximate one
  // is allowed.
  octet_conv_algorithm algorithm = OCTET_CONV_AUTO;
  bool fuse = true;
  // int8 between operators (stored/); unset: where the tier's products gain.
  std::optional<bool> store_unsigned;
  size_t cache_bytes = 0, memory_bytes = 0;  // as octet_network_desc has them
  // The most that all filters may take, as octet_conv2d_limit_packed has it; SIZE_MAX: any.
  size_t weights_max = SIZE_MAX;
  // The program answers and does not run: data of products' weights and biases may be null, and
  // nothing is packed. Layers with a state are refused without theirs.
  bool outline = false;
};

// Of one run. Pointers are borrowed for the call.
struct ProgramArguments {
  // One for each of the graph's inputs and outputs, in their order, dense and as the graph's shapes
  // have them. Those of constants and of inputs that nothing reads may be null. Those of variables
  // are written, too: the states of layers, which the caller sets before the first run, to their
  // zero points in most models, and keeps. Runs at the same time need states of their own. Memory
  // of a variable overlaps no other argument. A run that fails changes no state, unless it fails by
  // an exception of parallel_for.
  const void* const* inputs = nullptr;
  void* const* outputs = nullptr;
  // Images, at most as created; 0: as many. A graph with a state layer takes no fewer images: leave
  // it 0.
  size_t batch = 0;
  // Null: the program's own, one for each run at the same time, kept for later runs.
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
  // May throw once none of its tasks runs any more: then the run fails with the exception's words.
  octet_parallel_for parallel_for = nullptr;
  void* parallel_context = nullptr;
  size_t concurrency = 0;  // at most as created; 0: 1
};

// An op of the network, with the name of the graph's operator.
struct OpFacts {
  std::string name;
  size_t weight_bytes = 0;  // packed; 0: a function
  // Of a convolution; its arrays may be gone. A product is one of 1x1 over a column of its rows.
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
};

class Program {
 public:
  // Checks the graph, fuses, packs what `weights` does not have, and plans. Nothing of the graph is
  // read after it. weights may be null: then the program has its own. On failure *program is null,
  // and the error says what a refused operator would need. No exception leaves it.
  static octet_status create(const Graph& graph, const ProgramOptions& options,
                             std::shared_ptr<PackedWeights> weights,
                             std::unique_ptr<Program>* program, octet_error* error) noexcept;
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Called by many threads at once. The first run of fewer images than created for plans, and packs
  // nothing; so does the first run of a thread that brings no workspace allocate. The program keeps
  // one network for each number of images that was run, as long as it lives.
  octet_status run(const ProgramArguments& arguments, octet_error* error) const noexcept;

  // Of a run of all images.
  size_t workspace_bytes() const;
  // Whether fewer images can be run: whether all tensors have as many images, and none is a state.
  bool has_batch() const;
  const octet_network* network() const;  // of all images
  // The kernel, algorithm or function of each op of the network, in the network's order.
  std::vector<std::string> explain() const;
  // The network's ops and tensors, valid as long as the program.
  octet_network_desc description() const;
  std::vector<OpFacts> facts() const;  // of these ops
  // The network's tensor of each input and output of the graph; SIZE_MAX: an input not read.
  const std::vector<size_t>& inputs() const;
  const std::vector<size_t>& outputs() const;
  size_t fused() const;  // operators of the graph that are a part of another one

 private:
  struct Parts;
  explicit Program(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace octet::graph
