// SPDX-License-Identifier: Apache-2.0
// Runs octet run: a network layer by layer and as planned, on the same weights and inputs. It
// compares their bytes, and shows the time of both in alternation and their memory.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>

#include "bench/cases/network.h"
#include "bench/described/described.h"
#include "bench/machine/buffer.h"
#include "bench/problems/filter_limits.h"
#include "bench/problems/objects.h"
#include "bench/run/report.h"
#include "engines/graph/check.h"
#include "tools/octet/bench_options.h"
#include "tools/octet/commands.h"

namespace tool {
namespace {

// ---- a network, one way

// Bytes of all inputs, one after the other: random ones, or a file's, of one run or of several.
std::vector<uint8_t> input_bytes(size_t bytes, const std::string& path) {
  std::vector<uint8_t> data;
  if (path.empty()) {
    std::mt19937 random(2);
    for (size_t i = 0; i < bytes; ++i) data.push_back((uint8_t)random());
    return data;
  }
  if (std::filesystem::is_directory(path)) throw Error(fmt::format("{} is a folder", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(fmt::format("cannot read {}", path));
  data.assign(std::istreambuf_iterator<char>(file), {});
  if (data.size() < bytes || data.size() % std::max<size_t>(bytes, 1))
    throw Error(
        fmt::format("{} has {} bytes, and the inputs of a run {}; it must be one or more "
                    "times as long",
                    path, data.size(), bytes));
  return data;
}

void write_bytes(const std::string& path, const std::vector<uint8_t>& bytes) {
  if (path.empty()) return;
  std::ofstream file(path, std::ios::binary);
  file.write((const char*)bytes.data(), (std::streamsize)bytes.size());
  if (!file.flush()) throw Error(fmt::format("cannot write {}", path));
}

class Run {
 public:
  Run(const RunnableNetwork& network, const octet::graph::ProgramOptions& options, ThreadPool* pool)
      : program_(network.create(options)), workspace_(program_->workspace_bytes()) {
    const octet::graph::Graph& graph = network.graph;
    for (const int t : graph.inputs) {
      std::vector<Buffer>& to = graph.tensors[(size_t)t].variable ? states_ : inputs_;
      to.emplace_back(octet::graph::byte_count(graph, t));
      from_.push_back(to.back().as());
      if (&to == &states_) reset(graph.tensors[(size_t)t], to.back());
    }
    for (const int t : graph.outputs) {
      outputs_.emplace_back(octet::graph::byte_count(graph, t));
      to_.push_back(outputs_.back().as());
    }
    args_.inputs = from_.data(), args_.outputs = to_.data();
    args_.workspace = workspace_.as(), args_.workspace_bytes = workspace_.size();
    ThreadPool::attach(pool, &args_);
  }

  size_t input_bytes() const {
    size_t bytes = 0;
    for (const Buffer& buffer : inputs_) bytes += buffer.size();
    return bytes;
  }
  void set_input(const uint8_t* from) {
    for (const Buffer& buffer : inputs_)
      std::copy(from, from + buffer.size(), buffer.as()), from += buffer.size();
  }
  void operator()() {
    octet_error error = {};
    check(program_->run(args_, &error), error);
  }
  std::vector<uint8_t> output() const {
    std::vector<uint8_t> all;
    for (const Buffer& b : outputs_) all.insert(all.end(), b.as(), b.as() + b.size());
    return all;
  }
  std::vector<octet_network_explanation> parts() const { return parts_of(*program_->network()); }
  octet_network_desc description() const { return program_->description(); }

 private:
  // States begin at their zero points, as in LiteRT.
  static void reset(const octet::graph::Tensor& tensor, const Buffer& buffer) {
    const bool bytes = tensor.type == OCTET_S8 && !tensor.zero_points.empty();
    std::fill_n(buffer.as(), buffer.size(), (uint8_t)(bytes ? tensor.zero_points[0] : 0));
  }

  const std::unique_ptr<octet::graph::Program> program_;
  std::vector<Buffer> inputs_, states_, outputs_;
  Buffer workspace_;
  std::vector<const void*> from_;
  std::vector<void*> to_;
  octet::graph::ProgramArguments args_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

octet_network_goal goal_of(const std::string& name) {
  const std::pair<const char*, octet_network_goal> goals[] = {{"time", OCTET_NETWORK_TIME},
                                                              {"traffic", OCTET_NETWORK_TRAFFIC},
                                                              {"memory", OCTET_NETWORK_MEMORY},
                                                              {"layers", OCTET_NETWORK_LAYERS}};
  for (const auto& [known, goal] : goals)
    if (name == known) return goal;
  throw Error(fmt::format("'{}' is no goal: time, traffic, memory, layers", name));
}

std::string megabytes(size_t bytes) { return fmt::format("{:.3f}", (double)bytes / 1e6); }

void print_filters(const FilterLimits& limits) {
  if (!limits.weight_bytes()) return;  // no convolution
  fmt::print("  MB of convolutions' filters: {} as given, {} packed",
             megabytes(limits.weight_bytes()), megabytes(limits.packed_bytes()));
  if (limits.packed_bytes() < limits.free_bytes())
    fmt::print("; {:.1f} % more time predicted than without a limit, which takes {} MB",
               (limits.predicted_ratio() - 1) * 100, megabytes(limits.free_bytes()));
  fmt::print("\n");
}

void print_chains(const octet_network_desc& desc,
                  const std::vector<octet_network_explanation>& parts) {
  for (const octet_network_explanation& e : parts) {
    const size_t band = e.part.band_lines & ~OCTET_NETWORK_BY_IMAGE;
    const char* const by_image = band == e.part.band_lines ? "" : ", image by image";
    if (!band && !*by_image) continue;
    if (!band) {
      fmt::print("  ops {} to {}{}\n", e.part.first_op, e.part.end_op - 1, by_image);
      continue;
    }
    const octet_network_tensor& last = desc.tensors[desc.ops[e.part.end_op - 1].output];
    fmt::print("  chain of ops {} to {}: bands of {} of {} lines{}, {} task{}, rings {} KB\n",
               e.part.first_op, e.part.end_op - 1, band, last.h, by_image, e.tasks,
               e.tasks == 1 ? "" : "s", e.ring_bytes / 1000);
  }
}

// Numbers of tensors that `--input` has.
std::vector<int> inputs_of(const RunnableNetwork& network) {
  std::vector<int> inputs;
  for (size_t i = 0; i < network.inputs.size(); ++i)
    if (!network.graph.tensors[(size_t)network.graph.inputs[i]].variable)
      inputs.push_back(network.inputs[i]);
  return inputs;
}

// Returns whether the bytes are equal.
bool run_both(const RunnableNetwork& network, const RunArguments& a, const BenchOptions& options,
              ThreadPool* pool, ordered_json* json) {
  octet::graph::ProgramOptions how;
  how.concurrency = options.threads, how.isa = options.forced.isa;
  how.weights_max = parse_weights_max(a.weights_max);
  const FilterLimits limits = network.limits(how.isa, how.weights_max);
  how.goal = OCTET_NETWORK_LAYERS;
  Run layers(network, how, pool);
  how.goal = goal_of(a.goal);
  how.cache_bytes = a.cache_bytes, how.memory_bytes = a.memory_bytes;
  Run planned(network, how, pool);
  const std::vector<uint8_t> input = input_bytes(layers.input_bytes(), a.input);
  std::vector<uint8_t> outputs;
  bool equal = true;
  size_t at = 0;
  do {
    layers.set_input(input.data() + at);
    planned.set_input(input.data() + at);
    layers();
    planned();
    const std::vector<uint8_t> output = planned.output();
    equal &= layers.output() == output;
    outputs.insert(outputs.end(), output.begin(), output.end());
    at += layers.input_bytes();
  } while (at < input.size());
  write_bytes(a.output, outputs);
  std::vector<double> layers_ms, planned_ms, ratios;
  const Clock clock(options.threads == 1);
  for (int i = 0; i < options.repetitions; ++i) {
    layers_ms.push_back(clock.time(layers) * 1e3);
    planned_ms.push_back(clock.time(planned) * 1e3);
    ratios.push_back(layers_ms.back() / planned_ms.back());
  }
  equal &= layers.output() == planned.output();  // states went on
  const std::vector<octet_network_explanation> before = layers.parts(), after = planned.parts();
  const octet_network_explanation &l = before[0], &p = after[0];
  fmt::print("{:<24}  {}  layers {:>8.3f} ms  planned {:>8.3f} ms  ratio {:.3f}\n", network.name,
             equal ? "equal bytes" : "WRONG BYTES", median(layers_ms), median(planned_ms),
             median(ratios));
  fmt::print(
      "  MB of maps: {} in buffers of their own, {} layer by layer, {} as planned; {} are the "
      "caller's\n",
      megabytes(l.separate_bytes), megabytes(l.map_bytes), megabytes(p.map_bytes),
      megabytes(l.kept_bytes));
  print_filters(limits);
  print_chains(planned.description(), after);
  (*json)["networks"].push_back({{"name", network.name},
                                 {"batch", a.batch},
                                 {"equal", equal},
                                 {"inputs", inputs_of(network)},
                                 {"outputs", network.outputs},
                                 {"layers_ms", median(layers_ms)},
                                 {"planned_ms", median(planned_ms)},
                                 {"ratio", median(ratios)},
                                 {"separate_bytes", l.separate_bytes},
                                 {"layers_map_bytes", l.map_bytes},
                                 {"planned_map_bytes", p.map_bytes},
                                 {"kept_bytes", l.kept_bytes},
                                 {"layers_workspace_bytes", l.workspace_bytes},
                                 {"planned_workspace_bytes", p.workspace_bytes},
                                 {"filter_bytes", limits.weight_bytes()},
                                 {"packed_filter_bytes", limits.packed_bytes()},
                                 {"unlimited_filter_bytes", limits.free_bytes()},
                                 {"limit_predicted_ratio", limits.predicted_ratio()},
                                 {"parts", after.size()}});
  return equal;
}

}  // namespace

int run(const RunArguments& a) {
  const BenchOptions options = to_options(a.bench);
  JsonFile file(a.bench.json);
  ordered_json json = {{"machine", machine_json(options)}, {"networks", ordered_json::array()}};
  ThreadPool pool(options.threads);
  pin_if_single(options);
  bool equal = true;
  for (const std::string& name : a.bench.cases)
    equal &= run_both(runnable_network(name, options.forced.isa, a.batch, a.as), a, options, &pool,
                      &json);
  file.write(json);
  return equal ? kSuccess : kMismatch;
}

}  // namespace tool
