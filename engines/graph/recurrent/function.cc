// Makes a function of a network of a layer with a state.
#include <mutex>

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

// A layer with scratch memory for each run at the same time, which is there before the first layer
// of the run changes its states.
class Running : public RunMemory {
 public:
  explicit Running(std::unique_ptr<recurrent::Layer> layer) : layer_(std::move(layer)) {}
  void begin() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (runs_ == made_) {
      free_.reserve(made_ + 1);  // so that a layer gives its memory back without an allocation
      free_.push_back(std::make_unique<Blob>(layer_->scratch_bytes()));
      ++made_;
    }
    ++runs_;
  }
  void end() noexcept override {
    const std::lock_guard<std::mutex> lock(mutex_);
    --runs_;
  }
  const std::shared_ptr<std::atomic<size_t>>& failures() const { return failures_; }

  // A network takes no error from a function: the program looks at the failures afterwards.
  static void run(void* context, const octet_network_call* call) noexcept {
    auto& running = *(Running*)context;
    octet_error error = {};
    const octet_status status = guarded(&error, [&] {
      const Taken scratch(&running);
      running.layer_->run(*call, (uint8_t*)scratch.blob->data);
    });
    if (status != OCTET_OK) ++*running.failures_;
  }

 private:
  struct Taken {
    explicit Taken(Running* from) : running(*from) {
      const std::lock_guard<std::mutex> lock(running.mutex_);
      blob = std::move(running.free_.back());
      running.free_.pop_back();
    }
    ~Taken() {
      const std::lock_guard<std::mutex> lock(running.mutex_);
      running.free_.push_back(std::move(blob));
    }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    Running& running;
    std::unique_ptr<Blob> blob;
  };

  const std::unique_ptr<recurrent::Layer> layer_;
  const std::shared_ptr<std::atomic<size_t>> failures_ = std::make_shared<std::atomic<size_t>>(0);
  std::mutex mutex_;
  std::vector<std::unique_ptr<Blob>> free_;
  size_t made_ = 0, runs_ = 0;  // blobs, at least as many as runs at the same time
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
  to->failures = running->failures(), to->memory = running;
  Function& f = to->function;
  f.arguments = running;
  f.lines.run = Running::run, f.lines.context = running.get();
  f.lines.kernel_h = OCTET_NETWORK_ALL_IMAGES;
}

}  // namespace octet::graph
