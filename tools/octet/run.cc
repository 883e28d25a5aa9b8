// Runs octet run: a network layer by layer and as planned, on the same random weights and input. It
// compares their bytes, and shows the time of both in alternation and their memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>

#include "bench/cases/graph.h"
#include "bench/cases/network.h"
#include "bench/described/described.h"
#include "bench/described/placed_network.h"
#include "bench/machine/buffer.h"
#include "bench/problems/filter_limits.h"
#include "bench/problems/objects.h"
#include "bench/run/report.h"
#include "tools/octet/bench_options.h"
#include "tools/octet/commands.h"

namespace tool {
namespace {

// ---- functions over lines

uint8_t* line(const octet_network_image& image, size_t y) {
  return (uint8_t*)octet_network_line(&image, y);
}

void pool_lines(void* context, const octet_network_call* call) {
  const octet_conv2d_shape& s = *(const octet_conv2d_shape*)context;
  const octet_network_image &in = call->inputs[0], &out = call->output;
  for (size_t y = call->first; y < call->end; ++y)
    for (size_t x = 0; x < out.w; ++x) {
      uint8_t* const to = line(out, y) + x * out.pixel;
      std::memset(to, 0, out.channels);
      for (size_t ky = 0; ky < s.kernel_h; ++ky)
        for (size_t kx = 0; kx < s.kernel_w; ++kx) {
          const size_t iy = y * s.stride_h + ky - s.pad_top, ix = x * s.stride_w + kx - s.pad_left;
          if (iy >= in.h || ix >= in.w) continue;  // pixels above and left of the image wrap around
          const uint8_t* const from = line(in, iy) + ix * in.pixel;
          for (size_t c = 0; c < out.channels; ++c) to[c] = std::max(to[c], from[c]);
        }
    }
}

void deeper_lines(void* context, const octet_network_call* call) {
  const size_t times = ((const octet_conv2d_shape*)context)->kernel_h;
  const octet_network_image &in = call->inputs[0], &out = call->output;
  for (size_t y = call->first; y < call->end; ++y) {
    const uint8_t* from = line(in, y / times) + y % times * times * out.channels;
    uint8_t* to = line(out, y);
    for (size_t x = 0; x < in.w; ++x, from += in.pixel, to += times * out.pixel)
      std::memcpy(to, from, times * out.channels);
  }
}

octet_network_function function_of(const GraphOp& op) {
  octet_network_function f = lines_of(op);
  f.run = op.kind == OpKind::kPool ? pool_lines : deeper_lines;
  f.context = (octet_conv2d_shape*)(&op.shape);
  return f;
}

// ---- objects with random weights

class Objects {
 public:
  Objects(const std::string& name, const Graph& graph, octet_isa isa, size_t batch,
          size_t weights_max)
      : graph_(graph), tensors_(graph.tensors), batch_(batch), limits_(isa, weights_max) {
    for (const GraphOp& op : graph.ops)
      if (op.kind == OpKind::kConvolution) limits_.add(op.output, filter_of(op));
    limits_.apply(name);
    for (octet_network_tensor& t : tensors_) t.batch = batch;
    for (const GraphOp& op : graph.ops) {
      octet_network_op to = {};
      to.inputs[to.input_count++] = op.input;
      if (op.residual != kNoTensor) to.inputs[to.input_count++] = op.residual;
      to.output = op.output;
      if (op.kind == OpKind::kConvolution) {
        to.conv2d = make_conv(op, isa);
      } else {
        functions_.push_back(function_of(op));
        to.function = &functions_.back();
      }
      ops_.push_back(to);
    }
  }

  octet_network_desc desc() const {
    octet_network_desc d = OCTET_NETWORK_DESC_INIT;
    d.tensors = tensors_.data(), d.tensor_count = tensors_.size();
    d.ops = ops_.data(), d.op_count = ops_.size();
    return d;
  }

  const FilterLimits& limits() const { return limits_; }

 private:
  octet_filter_desc filter_of(const GraphOp& op) const {
    octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
    filter.shape = op.shape, filter.type = OCTET_S8, filter.order = OCTET_OHWI;
    filter.shape.batch_max = batch_;
    return filter;
  }

  const octet_conv2d* make_conv(const GraphOp& op, octet_isa isa) {
    octet_filter_desc filter = filter_of(op);
    const octet_conv2d_shape& s = filter.shape;
    const size_t k = s.kernel_h * s.kernel_w * s.in_channels / s.groups;
    std::uniform_int_distribution<int> draw(-127, 127);
    std::vector<int8_t> weights(k * s.out_channels);
    for (int8_t& w : weights) w = (int8_t)draw(random_);
    filter.data = weights.data();
    filter.packed_bytes_max = limits_.of(op.output);
    // Spreads the outputs of uniform inputs and weights over their range
    const float scale = 1 / (std::sqrt((float)k) * 74);
    octet_conv2d_desc d = OCTET_CONV2D_DESC_INIT;
    d.shape = s, d.lhs_type = OCTET_U8, d.rhs_type = OCTET_S8, d.dst_type = OCTET_U8;
    d.lhs_zero_point = zero_point(op.input), d.max_isa = isa;
    blobs_.push_back(pack(filter, isa, &d));
    d.epilogue.scales = &scale, d.epilogue.scale_count = 1;
    d.epilogue.dst_zero_point = op.relu ? 0 : 128;
    if (op.relu) d.epilogue.activation = OCTET_ACTIVATION_RELU;
    if (op.residual != kNoTensor) {
      d.epilogue.residual.type = OCTET_U8, d.epilogue.residual.scale = 0.75f;
      d.epilogue.residual.zero_point = zero_point(op.residual);
    }
    convs_.push_back(create(d));
    return convs_.back().get();
  }

  // The zero point of the op that wrote the tensor: 128, or 0 after a ReLU; poolings keep it.
  int32_t zero_point(size_t tensor) const {
    for (const GraphOp& op : graph_.ops)
      if (op.output == tensor)
        return op.kind == OpKind::kConvolution ? (op.relu ? 0 : 128) : zero_point(op.input);
    return tensor == graph_.input ? 128 : 0;
  }

  const Graph& graph_;
  std::vector<octet_network_tensor> tensors_;
  const size_t batch_;
  FilterLimits limits_;
  std::mt19937 random_{1};
  std::vector<Conv> convs_;
  std::deque<Buffer> blobs_;
  std::deque<octet_network_function> functions_;
  std::vector<octet_network_op> ops_;
};

// ---- a network, one way

// Bytes of all inputs, one after the other: a file's, or random ones.
std::vector<uint8_t> input_bytes(const octet_network_desc& desc, const std::vector<size_t>& inputs,
                                 const std::string& path) {
  size_t bytes = 0;
  for (const size_t tensor : inputs) bytes += tensor_bytes(desc.tensors[tensor]);
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
  if (data.size() != bytes)
    throw Error(
        fmt::format("{} has {} bytes, and the network's input {}", path, data.size(), bytes));
  return data;
}

void write_bytes(const std::string& path, const std::vector<uint8_t>& bytes) {
  if (path.empty()) return;
  std::ofstream file(path, std::ios::binary);
  file.write((const char*)bytes.data(), (std::streamsize)bytes.size());
  if (!file.flush()) throw Error(fmt::format("cannot write {}", path));
}

// The kept tensors, in the order of their bytes, and their numbers in the model.
struct Ends {
  std::vector<size_t> inputs, outputs;
  std::vector<int> input_numbers, output_numbers;
};

class Run {
 public:
  Run(const octet_network_desc& desc, const Ends& ends, ThreadPool* pool) : network_(desc) {
    for (const auto& [tensors, to] :
         {std::pair(&ends.inputs, &inputs_), std::pair(&ends.outputs, &outputs_)})
      for (const size_t i : *tensors)
        to->push_back({network_.tensor(i), network_.tensor(i) + tensor_bytes(desc.tensors[i])});
    ThreadPool::attach(pool, network_.args());
  }

  void set_input(const std::vector<uint8_t>& bytes) {
    const uint8_t* from = bytes.data();
    for (const auto& [begin, end] : inputs_)
      std::copy(from, from + (end - begin), begin), from += end - begin;
  }
  void operator()() { network_.run(); }
  std::vector<uint8_t> output() const {
    std::vector<uint8_t> all;
    for (const auto& [begin, end] : outputs_) all.insert(all.end(), begin, end);
    return all;
  }
  const std::vector<octet_network_explanation>& parts() const { return network_.parts(); }

 private:
  PlacedNetwork network_;
  std::vector<std::pair<uint8_t*, uint8_t*>> inputs_, outputs_;
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

// Returns whether the bytes are equal.
bool run_both(const std::string& name, octet_network_desc desc, const Ends& ends,
              const FilterLimits& limits, const RunArguments& a, const BenchOptions& options,
              ThreadPool* pool, ordered_json* json) {
  desc.concurrency = options.threads;
  desc.goal = OCTET_NETWORK_LAYERS;
  Run layers(desc, ends, pool);
  desc.goal = goal_of(a.goal);
  desc.cache_bytes = a.cache_bytes, desc.memory_bytes = a.memory_bytes;
  Run planned(desc, ends, pool);
  // Wrong sizes were refused before this point
  const std::vector<uint8_t> input = input_bytes(desc, ends.inputs, a.input);
  layers.set_input(input);
  planned.set_input(input);
  layers();
  planned();
  const bool equal = layers.output() == planned.output();
  write_bytes(a.output, planned.output());
  std::vector<double> layers_ms, planned_ms, ratios;
  const Clock clock(options.threads == 1);
  for (int i = 0; i < options.repetitions; ++i) {
    layers_ms.push_back(clock.time(layers) * 1e3);
    planned_ms.push_back(clock.time(planned) * 1e3);
    ratios.push_back(layers_ms.back() / planned_ms.back());
  }
  const std::vector<octet_network_explanation> before = layers.parts(), after = planned.parts();
  const octet_network_explanation &l = before[0], &p = after[0];
  fmt::print("{:<24}  {}  layers {:>8.3f} ms  planned {:>8.3f} ms  ratio {:.3f}\n", name,
             equal ? "equal bytes" : "WRONG BYTES", median(layers_ms), median(planned_ms),
             median(ratios));
  fmt::print(
      "  MB of maps: {} in buffers of their own, {} layer by layer, {} as planned; {} are the "
      "caller's\n",
      megabytes(l.separate_bytes), megabytes(l.map_bytes), megabytes(p.map_bytes),
      megabytes(l.kept_bytes));
  print_filters(limits);
  print_chains(desc, after);
  (*json)["networks"].push_back({{"name", name},
                                 {"batch", a.batch},
                                 {"equal", equal},
                                 {"inputs", ends.input_numbers},
                                 {"outputs", ends.output_numbers},
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

bool run_file(const std::string& name, const RunArguments& a, const BenchOptions& options,
              ThreadPool* pool, ordered_json* json) {
  const DescribedNetwork network(name, options.forced.isa, a.batch,
                                 parse_weights_max(a.weights_max));
  if (!network.left_out().empty())
    fmt::print(stderr, "{}: runs {} of {} operators\n", name, network.runs(),
               network.operator_count());
  for (const std::string& line : network.left_out()) fmt::print(stderr, "{}: {}\n", name, line);
  const octet::graph::Program& program = network.program();
  return run_both(name, program.description(),
                  {program.inputs(), program.outputs(), network.inputs(), network.outputs()},
                  network.limits(), a, options, pool, json);
}

bool run_one(const std::string& name, const RunArguments& a, const BenchOptions& options,
             ThreadPool* pool, ordered_json* json) {
  if (is_network_file(name)) return run_file(name, a, options, pool, json);
  const Graph graph = make_graph(name);
  const Objects objects(name, graph, options.forced.isa, a.batch, parse_weights_max(a.weights_max));
  Ends ends = {{graph.input}, {}, {(int)graph.input}, {}};
  for (size_t i = 0; i < graph.tensors.size(); ++i)
    if (graph.tensors[i].keep && i != graph.input)
      ends.outputs.push_back(i), ends.output_numbers.push_back((int)i);
  return run_both(name, objects.desc(), ends, objects.limits(), a, options, pool, json);
}

}  // namespace

int run(const RunArguments& a) {
  const BenchOptions options = to_options(a.bench);
  JsonFile file(a.bench.json);
  ordered_json json = {{"machine", machine_json(options)}, {"networks", ordered_json::array()}};
  ThreadPool pool(options.threads);
  pin_if_single(options);
  bool equal = true;
  for (const std::string& name : a.bench.cases) equal &= run_one(name, a, options, &pool, &json);
  file.write(json);
  return equal ? kSuccess : kMismatch;
}

}  // namespace tool
