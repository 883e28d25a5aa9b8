// SPDX-License-Identifier: Apache-2.0
// Runs octet traffic: the bytes that layers of a network read from memory and write to it, by a
// model of the caches, as a summary, a table and a picture.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <numeric>
#include <utility>

#include "bench/described/described.h"
#include "bench/machine/buffer.h"
#include "bench/machine/machine.h"
#include "bench/problems/candidates.h"
#include "bench/problems/conv_shape.h"
#include "bench/problems/forced.h"
#include "bench/problems/objects.h"
#include "bench/run/report.h"
#include "tools/octet/bench_options.h"
#include "tools/octet/traffic_report.h"

namespace tool {
namespace {

struct DestroyTraffic {
  void operator()(octet_traffic* traffic) const { octet_traffic_destroy(traffic); }
};
using Traffic = std::unique_ptr<octet_traffic, DestroyTraffic>;

Traffic create_traffic(size_t cache_bytes, size_t layers) {
  octet_traffic_options options = OCTET_TRAFFIC_OPTIONS_INIT;
  options.cache_bytes = cache_bytes;
  options.layers = layers;
  octet_traffic* traffic = nullptr;
  octet_error error = {};
  check(octet_traffic_create(&options, &traffic, &error), error);
  return Traffic(traffic);
}

// The machine that blocks are cut for: a cache up to the usual L2 is the L2, a larger one is the
// L3.
octet_machine machine_of(size_t cache_bytes) {
  constexpr size_t kUsualL2 = 512 * 1024;
  octet_machine machine = OCTET_MACHINE_INIT;
  machine.l2_bytes = std::min(cache_bytes, kUsualL2);
  machine.l3_bytes = cache_bytes > kUsualL2 ? cache_bytes : 0;
  // The design is this machine's: on an unknown one the plan would be more careful
  octet_cpu_info info = OCTET_CPU_INFO_INIT;
  octet_error error = {};
  check(octet_get_cpu_info(&info, &error), error);
  machine.design = info.design;
  return machine;
}

size_t bytes_of(const octet_network_tensor& t) {
  return t.batch * t.h * t.w * t.channels * type_bytes(t.type);
}

Moved moved_of(const octet_layer_traffic& traffic) {
  Moved moved;
  std::copy(std::begin(traffic.read_bytes), std::end(traffic.read_bytes), moved.read);
  std::copy(std::begin(traffic.write_bytes), std::end(traffic.write_bytes), moved.written);
  return moved;
}

// The predicted time of the chosen algorithm, without the memory's.
double compute_us(const octet_filter_desc& filter, octet_isa isa, octet_conv_algorithm algorithm) {
  for (const octet_conv2d_candidate& c : candidates(filter, isa))
    if (c.algorithm == algorithm) return c.compute_microseconds + c.transform_microseconds;
  return 0;
}

// A network's program with the memory of a run: one piece that begins at a multiple of 2 MB, so
// that caches with sets behave the same in every process.
class Walk {
 public:
  Walk(const RunnableNetwork& network, const octet::graph::ProgramOptions& options)
      : names_(network.layers),
        options_(options),
        program_(network.create(options)),
        desc_(program_->description()),
        explanations_(parts_of(*program_->network())),
        tensors_(desc_.tensor_count) {
    constexpr size_t kPage = 4096, kHugePage = 2 << 20;
    const auto round_up = [](size_t bytes, size_t unit) {
      return (bytes + unit - 1) / unit * unit;
    };
    args_.workspace_bytes = program_->workspace_bytes();
    size_t bytes = round_up(args_.workspace_bytes, kPage);
    std::vector<size_t> at;
    for (size_t i = 0; i < desc_.tensor_count; ++i) {
      at.push_back(bytes);
      if (desc_.tensors[i].keep) bytes += round_up(bytes_of(desc_.tensors[i]), kPage);
    }
    memory_ = Buffer(bytes + kHugePage);
    uint8_t* const memory = (uint8_t*)round_up((uintptr_t)memory_.as(), kHugePage);
    for (size_t i = 0; i < at.size(); ++i) tensors_[i] = memory + at[i];
    args_.workspace = memory, args_.tensors = tensors_.data();
  }

  void run() const {
    octet_error error = {};
    check(octet_network_run(program_->network(), &args_, &error), error);
  }

  std::vector<Moved> walk() const {
    const Traffic traffic = create_traffic(options_.cache_bytes, desc_.op_count);
    octet_error error = {};
    check(octet_traffic_network(traffic.get(), program_->network(), &args_, &error), error);
    std::vector<Moved> layers;
    for (size_t i = 0; i < desc_.op_count; ++i) {
      octet_layer_traffic layer = OCTET_LAYER_TRAFFIC_INIT;
      check(octet_traffic_get(traffic.get(), i, &layer, &error), error);
      layers.push_back(moved_of(layer));
    }
    return layers;
  }

  std::vector<LayerReport> layers() const {
    std::vector<LayerReport> layers;
    const std::vector<octet::graph::OpFacts> facts = program_->facts();
    const std::vector<Moved> moved = walk();
    for (size_t i = 0; i < desc_.op_count; ++i)
      layers.push_back(report_of(desc_.ops[i], facts[i], moved[i]));
    return layers;
  }

  ChainsReport chains() const {
    ChainsReport chains = {walk(), {}, map_bytes(), {}};
    for (const Moved& moved : chains.layers) chains.total += moved;
    for (const octet_network_explanation& e : explanations_)
      if (e.part.band_lines) chains.parts.push_back(e.part);
    return chains;
  }

  size_t map_bytes() const { return explanations_[0].map_bytes + explanations_[0].kept_bytes; }
  size_t scratch_bytes() const { return explanations_[0].scratch_bytes; }

 private:
  LayerReport report_of(const octet_network_op& op, const octet::graph::OpFacts& facts,
                        const Moved& moved) const {
    const octet_network_tensor &in = desc_.tensors[op.inputs[0]], &out = desc_.tensors[op.output];
    const auto name = names_.find(facts.name);
    LayerReport r = {name == names_.end() ? facts.name : name->second,
                     "function",
                     "-",
                     "-",
                     in.channels,
                     out.channels,
                     in.w,
                     in.h,
                     out.w,
                     out.h,
                     0,
                     facts.weight_bytes,
                     bytes_of(out),
                     0,
                     0,
                     moved};
    for (size_t k = 0; k < op.input_count; ++k) r.in_bytes += bytes_of(desc_.tensors[op.inputs[k]]);
    if (op.function) return r;
    ConvShape shape = {facts.filter.shape, out.h, out.w};
    octet_conv_algorithm algorithm = OCTET_CONV_DIRECT;
    if (op.conv2d) {
      algorithm = octet_conv2d_algorithm(op.conv2d);
      r.kind = "convolution", r.algorithm = octet_conv_algorithm_name(algorithm);
      r.kernel = octet_conv2d_kernel(op.conv2d);
    } else {
      shape.out_h = shape.geometry.in_h_max, shape.out_w = 1;
      r.kind = r.algorithm = "product", r.kernel = octet_gemm_kernel(op.gemm, shape.out_h);
    }
    r.macs = shape.ops() / 2;
    r.compute_us = compute_us(facts.filter, options_.isa, algorithm);
    return r;
  }

  const std::map<std::string, std::string>& names_;
  const octet::graph::ProgramOptions options_;
  const std::unique_ptr<octet::graph::Program> program_;
  const octet_network_desc desc_;
  const std::vector<octet_network_explanation> explanations_;
  Buffer memory_;
  std::vector<void*> tensors_;
  octet_network_args args_ = OCTET_NETWORK_ARGS_INIT;
};

// Both ways have the weights in the same place.
class Walks {
 public:
  Walks(const TrafficArguments& a, size_t batch, octet_isa isa)
      : network_(runnable_network(a.network, isa, batch, "", a.types)) {
    options_.isa = isa;
    if (!a.algorithm.empty()) options_.algorithm = algorithm(a.algorithm);
  }

  void set_cache(size_t bytes) {
    machine_ = machine_of(bytes);
    options_.machine = &machine_, options_.cache_bytes = bytes;
    network_.weights = std::make_shared<octet::graph::PackedWeights>();  // chosen for the machine
  }
  Walk of(octet_network_goal goal) const {
    octet::graph::ProgramOptions options = options_;
    options.goal = goal;
    return Walk(network_, options);
  }

 private:
  RunnableNetwork network_;
  octet_machine machine_ = OCTET_MACHINE_INIT;
  octet::graph::ProgramOptions options_;
};

TrafficReport report_of(const Walks& walks, const TrafficArguments& a, size_t cache_bytes) {
  const Walk layers = walks.of(OCTET_NETWORK_LAYERS);
  TrafficReport report = {
      a.network,       a.batch, cache_bytes,        a.bandwidth,           a.fps,
      layers.layers(), {},      layers.map_bytes(), layers.scratch_bytes()};
  for (const LayerReport& layer : report.layers) report.total += layer.moved;
  report.chains = walks.of(OCTET_NETWORK_TRAFFIC).chains();
  return report;
}

// Reads more than the cache holds, so that the next run finds none of its operands there.
void sweep_cache(size_t cache_bytes) {
  const size_t bytes = 4 * cache_bytes;
  const Buffer large(bytes);
  volatile uint8_t sum = 0;
  for (size_t i = 0; i < bytes; i += 64) sum = (uint8_t)(sum + large.as()[i]);
}

// "5GB/s" is 5 and "GB/s"; a text without a number is -1 and the text.
std::pair<double, std::string> split_unit(const std::string& text) {
  size_t end = 0;
  double number = -1;
  try {
    number = std::stod(text, &end);
  } catch (const std::exception&) {
  }
  return {number, text.substr(end)};
}

std::ofstream open(const std::string& path) {
  std::ofstream file(path);
  if (!file) throw Error(fmt::format("cannot write {}", path));
  return file;
}

void close(std::ofstream* file, const std::string& path) {
  file->close();
  if (!*file) throw Error(fmt::format("cannot write {}", path));
}

}  // namespace

size_t parse_bytes(const std::string& text) {
  const auto [number, unit] = split_unit(text);
  const double factor = unit == "K" || unit == "KB"   ? 1024
                        : unit == "M" || unit == "MB" ? 1024 * 1024
                        : unit.empty()                ? 1
                                                      : -1;
  const double bytes = number * factor;
  if (!(bytes >= 4096 && bytes <= 2147483648.0) || std::fmod(bytes, 4096) != 0)
    throw Error(fmt::format(
        "'{}' is no size of a cache: give bytes, or 512K, or 8M: a multiple of 4K, up to 2048M",
        text));
  return (size_t)bytes;
}

double parse_bandwidth(const std::string& text) {
  const auto [number, unit] = split_unit(text);
  const double factor = unit == "GB/s" ? 1e9 : unit == "MB/s" ? 1e6 : unit.empty() ? 1e9 : -1;
  if (!(number > 0 && number <= 1e5 && factor > 0))
    throw Error(fmt::format("'{}' is no bandwidth: give GB/s, such as 5GB/s", text));
  return number * factor;
}

int traffic(const TrafficArguments& a) {
  const octet_isa isa = a.isa.empty() ? OCTET_ISA_AUTO : usable_tier(a.isa);
  Walks walks(a, a.batch, isa);
  if (a.execute) {  // once, for tools that count accesses (valgrind)
    walks.set_cache(a.cache_bytes[0]);
    const Walk walk = walks.of(a.chains ? OCTET_NETWORK_TRAFFIC : OCTET_NETWORK_LAYERS);
    sweep_cache(a.cache_bytes[0]);
    walk.run();
    return kSuccess;
  }
  // Opens the files before the work, so that an error comes early
  std::ofstream csv, svg;
  if (!a.csv.empty()) csv = open(a.csv);
  if (!a.svg.empty()) svg = open(a.svg);
  JsonFile json(a.json);
  std::vector<TrafficReport> reports;
  std::unique_ptr<Walks> single;
  if (a.batch > 1) single = std::make_unique<Walks>(a, 1, isa);
  for (const size_t cache : a.cache_bytes) {
    walks.set_cache(cache);
    reports.push_back(report_of(walks, a, cache));
    if (single) {
      single->set_cache(cache);
      TrafficReport one = report_of(*single, a, cache);
      reports.back().one_by_one = std::move(one.layers);
      reports.back().one_in_chains = std::move(one.chains);
    }
    print_summary(reports.back());
  }
  if (!a.csv.empty()) {
    csv << to_csv(reports[0]);
    close(&csv, a.csv);
  }
  if (!a.svg.empty()) {
    svg << to_svg(reports[0]);
    close(&svg, a.svg);
  }
  json.write(to_json(reports));
  return kSuccess;
}

}  // namespace tool
