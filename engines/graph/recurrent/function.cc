// SPDX-License-Identifier: Apache-2.0
// Makes a function of a network of a layer with a state.
#include "engines/graph/objects.h"
#include "engines/graph/recurrent/layer.h"
#include "engines/graph/refused.h"

namespace octet::graph {
namespace {

std::unique_ptr<recurrent::Layer> make(const Graph& g, const Op& op,
                                       const recurrent::Packing* packing) {
  return op.kind == Kind::kLstm ? recurrent::make_lstm(g, op, packing)
                                : recurrent::make_svdf(g, op, packing);
}

// A layer with scratch memory for each run at the same time.
struct Running {
  explicit Running(std::unique_ptr<recurrent::Layer> with)
      : layer(std::move(with)), memory(std::make_shared<RunMemory>(layer->scratch_bytes(), 1)) {}

  // A network takes no error from a function, and there is none: the run has begun with its memory.
  static void run(void* context, const octet_network_call* call) noexcept {
    const auto& running = *(const Running*)context;
    const RunMemory::Taken scratch(running.memory.get());
    running.layer->run(*call, (uint8_t*)scratch.data());
  }

  const std::unique_ptr<recurrent::Layer> layer;
  const std::shared_ptr<RunMemory> memory;
};

}  // namespace

void check_state_layer(const Graph& graph, const Op& op) { make(graph, op, nullptr); }

void make_state_layer(const Graph& graph, const Op& op, octet_isa isa, PackedWeights* weights,
                      Object* to) {
  for (const int t : op.inputs)
    if (t >= 0 && graph.tensors[(size_t)t].constant && !graph.tensors[(size_t)t].data)
      throw Refused(OCTET_NULL_POINTER, "the data of its weights or of a bias is null");
  const recurrent::Packing packing = {isa, weights};
  const auto running = std::make_shared<Running>(make(graph, op, &packing));
  to->memory = running->memory;
  Function& f = to->function;
  f.arguments = running;
  f.lines.run = Running::run, f.lines.context = running.get();
  f.lines.kernel_h = OCTET_NETWORK_ALL_IMAGES;
}

}  // namespace octet::graph
