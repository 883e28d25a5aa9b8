// SPDX-License-Identifier: Apache-2.0
// Creates and runs programs: one network for all images, others for fewer ones.
#include "engines/graph/program.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "engines/graph/check.h"
#include "engines/graph/fuse.h"
#include "engines/graph/objects.h"
#include "engines/graph/refused.h"
#include "engines/graph/would.h"

namespace octet::graph {

namespace {

// An operator by itself may be possible where a fused one is not, for example because its
// accumulators leave the range of the fused rounding. Other refusals hold for both.
bool is_of_fused(octet_status status) {
  return status == OCTET_UNSUPPORTED || status == OCTET_BAD_SCALE || status == OCTET_BAD_CLAMP ||
         status == OCTET_ACCUMULATOR_OVERFLOW;
}

// The memory of all functions that need some, for one run: a run that lacks some fails by itself,
// and before a state changes.
class Begun {
 public:
  Begun(const std::vector<RunMemory*>& memories, size_t tasks)
      : memories_(memories), tasks_(tasks) {
    try {
      for (; count_ < memories.size(); ++count_) memories[count_]->begin(tasks_);
    } catch (...) {
      end();
      throw;
    }
  }
  ~Begun() { end(); }
  void check_runs() const {
    for (RunMemory* const memory : memories_) memory->check_runs();
  }
  Begun(const Begun&) = delete;
  Begun& operator=(const Begun&) = delete;

 private:
  void end() {
    for (size_t i = 0; i < count_; ++i) memories_[i]->end(tasks_);
  }
  const std::vector<RunMemory*>& memories_;
  const size_t tasks_;
  size_t count_ = 0;
};

// The engine's threads. The library between the engine and a run is compiled without exceptions, so
// one of the engine's waits here until the library returns; no further task begins before.
class Lent {
 public:
  Lent(const ProgramArguments& a, octet_network_args* to)
      : parallel_for_(a.parallel_for), context_(a.parallel_context) {
    if (parallel_for_) to->parallel_for = run, to->parallel_context = this;
  }
  void check_run() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  static void run(void* self, size_t count, void (*task)(void* arg, size_t index), void* arg) {
    Lent& lent = *(Lent*)self;
    if (lent.thrown_) return;
    try {
      lent.parallel_for_(lent.context_, count, task, arg);
    } catch (...) {
      lent.thrown_ = std::current_exception();
    }
  }
  const octet_parallel_for parallel_for_;
  void* const context_;
  std::exception_ptr thrown_;
};

}  // namespace

struct Program::Parts {
  explicit Parts(const ProgramOptions& given) : options(given) {
    if (given.machine) machine = *given.machine, options.machine = &machine;
  }

  ProgramOptions options;
  octet_machine machine = {};  // a copy: runs of fewer images are planned later
  PlacedGraph placed;
  std::vector<Object> objects;
  std::vector<RunMemory*> memories;  // of those objects that have one
  std::vector<octet_network_op> ops;
  std::vector<std::string> names;  // of the graph's operators, per op
  size_t operator_count = 0, fused = 0;
  size_t batch = 0;  // of all tensors; 0: they have different ones, or a layer has a state
  bool has_states = false;
  std::vector<size_t> variables;  // numbers of the graph's inputs

  // ---- networks, by their images

  struct Planned {
    Network network;
    size_t workspace_bytes = 0;
  };
  mutable std::mutex mutex;
  mutable std::map<size_t, Planned> planned;
  const Planned* whole = nullptr;  // of all images, once it is there: found without the mutex
  mutable Workspaces workspaces;

  octet_network_desc describe(const std::vector<octet_network_tensor>& tensors) const {
    octet_network_desc d = OCTET_NETWORK_DESC_INIT;
    d.tensors = tensors.data(), d.tensor_count = tensors.size();
    d.ops = ops.data(), d.op_count = ops.size();
    d.concurrency = options.concurrency, d.goal = options.goal;
    d.cache_bytes = options.cache_bytes, d.memory_bytes = options.memory_bytes;
    d.machine = options.machine;
    return d;
  }

  Planned plan(size_t images) const {
    std::vector<octet_network_tensor> tensors = placed.tensors;
    if (images)
      for (octet_network_tensor& t : tensors) t.batch = images;
    const octet_network_desc desc = describe(tensors);
    octet_network* network = nullptr;
    octet_error error = {};
    check(octet_network_create(&desc, &network, &error), error);
    Planned made;
    made.network.reset(network);
    check(octet_network_workspace(network, &made.workspace_bytes, &error), error);
    return made;
  }

  // The network of so many images, planned by whoever asks first and kept. Threads that ask at the
  // same time may each plan, without waiting; all get the one that is kept.
  const Planned& find(size_t images) const {
    const size_t key = images == batch ? 0 : images;
    if (key == 0 && whole) return *whole;
    if (key != 0 && has_states)
      throw Refused(OCTET_UNSUPPORTED,
                    join("arguments.batch = ", images,
                         ", but a layer with a state runs all images that the program was created "
                         "for; leave it 0"));
    if (key != 0 && batch == 0)
      throw Refused(OCTET_UNSUPPORTED,
                    join("arguments.batch = ", images,
                         ", but the graph's tensors have different numbers of images"));
    if (key > batch)
      throw Refused(OCTET_SIZE_ABOVE_MAXIMUM, join("arguments.batch = ", images,
                                                   ", but the program was created for ", batch));
    {
      const std::lock_guard<std::mutex> lock(mutex);
      const auto found = planned.find(key);
      if (found != planned.end()) return found->second;
    }
    Planned made = plan(key);
    const std::lock_guard<std::mutex> lock(mutex);
    return planned.emplace(key, std::move(made)).first->second;
  }

  void make(const Graph& graph, bool fuse_operators, PackedWeights* weights) {
    Graph ordered = fuse_operators ? fuse(graph) : sort(graph);
    operator_count = graph.ops.size(), fused = graph.ops.size() - ordered.ops.size();
    if (options.store_unsigned.value_or(multiplies_unsigned(options.isa))) store_unsigned(&ordered);
    placed = place(ordered);
    if (placed.ops.empty()) refuse("the graph has nothing to compute");
    objects = make_objects(ordered, placed, options, weights);
    for (const Object& object : objects)
      if (object.memory) memories.push_back(object.memory.get());
    ops = network_ops(placed, objects);
    for (const PlacedOp& op : placed.ops)
      names.push_back(op.op < ordered.ops.size() ? ordered.ops[op.op].name : "an output");
    batch = placed.tensors[0].batch;
    for (const octet_network_tensor& t : placed.tensors)
      if (t.batch != batch) batch = 0;
    // Its rows are one line, whose number of images is 1, and its states are those of all images
    for (const PlacedOp& op : placed.ops) has_states |= op.has_state;
    if (has_states || placed.cuts_images) batch = 0;
    for (size_t i = 0; i < placed.inputs.size(); ++i)
      if (placed.inputs[i] != kNowhere && ordered.tensors[(size_t)ordered.inputs[i]].variable)
        variables.push_back(i);
    whole = &find(0);
  }

  // A layer writes its variables while other operators run. Throws if they are anything else, too.
  void check_variables(const std::vector<void*>& all) const {
    const auto bytes = [&](size_t node) {
      const octet_network_tensor& t = placed.tensors[node];
      return t.batch * t.h * t.w * t.channels * type_bytes(t.type);
    };
    const auto check = [&](size_t variable, const char* what, const std::vector<size_t>& ends) {
      const size_t node = placed.inputs[variable];
      for (size_t i = 0; i < ends.size(); ++i) {
        if (ends[i] == kNowhere || ends[i] == node) continue;
        const auto a = (uintptr_t)all[node], b = (uintptr_t)all[ends[i]];
        if (a < b + bytes(ends[i]) && b < a + bytes(node))
          throw Refused(OCTET_OVERLAP,
                        join("arguments.inputs[", variable, "], a variable, overlaps ",
                             "arguments.", what, "[", i, "]"));
      }
    };
    for (const size_t variable : variables)
      check(variable, "inputs", placed.inputs), check(variable, "outputs", placed.outputs);
  }

  // Throws unless there is a pointer for each tensor that is kept.
  std::vector<void*> pointers(const ProgramArguments& a) const {
    std::vector<void*> all(placed.tensors.size());
    const auto set = [&](const char* what, const std::vector<size_t>& ends, auto from) {
      for (size_t i = 0; i < ends.size(); ++i) {
        if (ends[i] == kNowhere) continue;
        if (!from || !from[i])
          throw Refused(OCTET_NULL_POINTER, join("arguments.", what, "[", i, "] is null"));
        all[ends[i]] = const_cast<void*>((const void*)from[i]);
      }
    };
    set("inputs", placed.inputs, a.inputs);
    set("outputs", placed.outputs, a.outputs);
    for (const auto& [node, bytes] : placed.constants)
      all[node] = const_cast<uint8_t*>(bytes.data());
    check_variables(all);
    return all;
  }
};

Program::Program(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Program::~Program() = default;

octet_status Program::create(const Graph& graph, const ProgramOptions& options,
                             std::shared_ptr<PackedWeights> weights,
                             std::unique_ptr<Program>* program, octet_error* error) noexcept {
  return guarded(error, [&] {
    if (!program) throw Refused(OCTET_NULL_POINTER, "program is null");
    program->reset();
    sort(graph);  // a graph that is none has a status of its own
    for (const std::string& why : would(graph))
      if (!why.empty()) throw Refused(OCTET_UNSUPPORTED, why);
    if (!weights) weights = std::make_shared<PackedWeights>();
    std::vector<size_t> from;
    const Graph sliced = with_slices(with_requantizations(graph, &from));
    auto parts = std::make_unique<Parts>(options);
    try {
      parts->make(sliced, options.fuse, weights.get());
    } catch (const Refused& refused) {
      if (!options.fuse || parts->fused == 0 || !is_of_fused(refused.status())) throw;
      parts = std::make_unique<Parts>(options);
      parts->make(sliced, false, weights.get());
    }
    program->reset(new Program(std::move(parts)));
  });
}

octet_status Program::run(const ProgramArguments& a, octet_error* error) const noexcept {
  return guarded(error, [&] {
    const Parts& p = *parts_;
    const Parts::Planned& planned = p.find(a.batch ? a.batch : p.batch);
    const std::vector<void*> tensors = p.pointers(a);
    octet_network_args args = OCTET_NETWORK_ARGS_INIT;
    args.tensors = tensors.data();
    args.workspace = a.workspace, args.workspace_bytes = a.workspace_bytes;
    Lent lent(a, &args);
    args.concurrency = a.concurrency;
    std::unique_ptr<Blob> own;
    if (!a.workspace && planned.workspace_bytes) {
      own = p.workspaces.take(planned.workspace_bytes);
      args.workspace = own->data, args.workspace_bytes = own->bytes;
    }
    // As many tasks as the network would make at the same time; more of them it refuses.
    const size_t tasks = a.parallel_for && a.concurrency ? a.concurrency : 1;
    const Begun begun(p.memories, std::min(tasks, std::max<size_t>(p.options.concurrency, 1)));
    octet_error failed = {};
    const octet_status status = octet_network_run(planned.network.get(), &args, &failed);
    if (own) p.workspaces.give(std::move(own));
    lent.check_run();
    check(status, failed);
    begun.check_runs();
  });
}

size_t Program::workspace_bytes() const { return parts_->find(parts_->batch).workspace_bytes; }
bool Program::has_batch() const { return parts_->batch != 0; }
size_t Program::fused() const { return parts_->fused; }
const std::vector<size_t>& Program::inputs() const { return parts_->placed.inputs; }
const std::vector<size_t>& Program::outputs() const { return parts_->placed.outputs; }
const octet_network* Program::network() const { return parts_->find(parts_->batch).network.get(); }
octet_network_desc Program::description() const { return parts_->describe(parts_->placed.tensors); }

std::vector<OpFacts> Program::facts() const {
  std::vector<OpFacts> facts;
  for (size_t i = 0; i < parts_->objects.size(); ++i) {
    const Object& o = parts_->objects[i];
    facts.push_back({parts_->names[i], o.blob ? o.blob->bytes : 0, o.filter});
  }
  return facts;
}

std::vector<std::string> Program::explain() const {
  std::vector<std::string> lines;
  for (size_t i = 0; i < parts_->objects.size(); ++i) {
    const Object& o = parts_->objects[i];
    std::string how = "a function";
    if (o.conv)
      how = join(octet_conv_algorithm_name(octet_conv2d_algorithm(o.conv.get())), ", ",
                 octet_conv2d_kernel(o.conv.get()));
    if (o.memory) how = "a product of two activations";
    if (parts_->placed.ops[i].has_state) how = "a layer with a state";
    if (o.gemm) how = join("a product, ", octet_gemm_kernel(o.gemm.get(), 1));
    lines.push_back(parts_->names[i] + ": " + how);
  }
  return lines;
}

}  // namespace octet::graph
