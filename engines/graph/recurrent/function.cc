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
class Running {
 public:
  explicit Running(std::unique_ptr<recurrent::Layer> layer) : layer_(std::move(layer)) {}
  const std::shared_ptr<std::atomic<size_t>>& failures() const { return failures_; }

  // A network takes no error from a function: the program looks at the failures afterwards.
  static void run(void* context, const octet_network_call* call) noexcept {
    auto& running = *(Running*)context;
    octet_error error = {};
    const octet_status status = guarded(&error, [&] {
      std::unique_ptr<Blob> scratch = running.scratch_.take(running.layer_->scratch_bytes());
      running.layer_->run(*call, (uint8_t*)scratch->data);
      running.scratch_.give(std::move(scratch));
    });
    if (status != OCTET_OK) ++*running.failures_;
  }

 private:
  const std::unique_ptr<recurrent::Layer> layer_;
  const std::shared_ptr<std::atomic<size_t>> failures_ = std::make_shared<std::atomic<size_t>>(0);
  Workspaces scratch_;
};

}  // namespace

void check_state_layer(const Graph& graph, const Op& op) { make(graph, op, nullptr); }

Function state_function(const Graph& graph, const Op& op, octet_isa isa, PackedWeights* weights,
                        std::shared_ptr<std::atomic<size_t>>* failures) {
  for (const int t : op.inputs)
    if (t >= 0 && graph.tensors[(size_t)t].constant && !graph.tensors[(size_t)t].data)
      throw Refused(OCTET_NULL_POINTER, "the data of its weights or of a bias is null");
  const recurrent::Packing packing = {isa, weights};
  const auto running = std::make_shared<Running>(make(graph, op, &packing));
  *failures = running->failures();
  Function f;
  f.arguments = running;
  f.lines.run = Running::run, f.lines.context = running.get();
  f.lines.kernel_h = OCTET_NETWORK_ALL_IMAGES;
  return f;
}

}  // namespace octet::graph
