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

#include "bench/described/chained_layers.h"
#include "bench/machine/machine.h"
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

Moved moved_of(const octet_layer_traffic& traffic) {
  Moved moved;
  std::copy(std::begin(traffic.read_bytes), std::end(traffic.read_bytes), moved.read);
  std::copy(std::begin(traffic.write_bytes), std::end(traffic.write_bytes), moved.written);
  return moved;
}

ChainsReport walk_chains(const LayerList& list, const CreatedLayers& created, size_t cache_bytes) {
  const ChainedLayers network(list, created, cache_bytes);
  const Traffic traffic = create_traffic(cache_bytes, list.layers.size());
  network.walk(traffic.get());
  ChainsReport chains;
  octet_error error = {};
  for (size_t i = 0; i < list.layers.size(); ++i) {
    octet_layer_traffic layer = OCTET_LAYER_TRAFFIC_INIT;
    check(octet_traffic_get(traffic.get(), i, &layer, &error), error);
    chains.layers.push_back(moved_of(layer));
    chains.total += chains.layers.back();
  }
  chains.map_bytes = network.map_bytes();
  chains.parts = network.chains();
  return chains;
}

// Layers whose tensors do not fit each other can be walked one by one, but are no network.
ChainsReport chains_of(const LayerList& list, const CreatedLayers& created, size_t cache_bytes) {
  try {
    return walk_chains(list, created, cache_bytes);
  } catch (const Error& error) {
    ChainsReport none;
    none.refused = error.what();
    return none;
  }
}

TrafficReport report_of(const LayerList& list, const CreatedLayers& created,
                        const TrafficArguments& a, size_t cache_bytes) {
  const Traffic traffic = create_traffic(cache_bytes, list.layers.size());
  created.walk(traffic.get());
  TrafficReport report = {list.name,
                          list.batch,
                          cache_bytes,
                          a.bandwidth,
                          a.fps,
                          {},
                          {},
                          created.map_bytes(),
                          created.workspace_bytes()};
  octet_error error = {};
  for (size_t i = 0; i < list.layers.size(); ++i) {
    octet_layer_traffic layer = OCTET_LAYER_TRAFFIC_INIT;
    check(octet_traffic_get(traffic.get(), i, &layer, &error), error);
    report.layers.push_back(describe(list, i, created.facts(i)));
    report.layers.back().moved = moved_of(layer);
    report.total += report.layers.back().moved;
  }
  return report;
}

// Reads more than the cache holds, so that the next run finds none of its operands there.
void sweep_cache(size_t cache_bytes) {
  const size_t bytes = 4 * cache_bytes;
  const Buffer large(bytes);
  volatile uint8_t sum = 0;
  for (size_t i = 0; i < bytes; i += 64) sum = (uint8_t)(sum + large.as()[i]);
}

// Runs each layer once, for tools that count accesses (valgrind).
void execute(const LayerList& list, const Forced& forced, size_t cache_bytes, bool chains) {
  const CreatedLayers created(list, forced, machine_of(cache_bytes));
  if (!chains) {
    sweep_cache(cache_bytes);
    return created.run();
  }
  const ChainedLayers network(list, created, cache_bytes);
  sweep_cache(cache_bytes);
  network.run();
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
  Forced forced;
  if (!a.isa.empty()) forced.isa = usable_tier(a.isa);
  if (!a.algorithm.empty()) forced.algorithm = algorithm(a.algorithm);
  const LayerList list = parse_layers(a.network, a.batch, a.types);
  if (a.execute) {
    execute(list, forced, a.cache_bytes[0], a.chains);
    return kSuccess;
  }
  // Opens the files before the work, so that an error comes early
  std::ofstream csv, svg;
  if (!a.csv.empty()) csv = open(a.csv);
  if (!a.svg.empty()) svg = open(a.svg);
  JsonFile json(a.json);
  std::vector<TrafficReport> reports;
  for (const size_t cache : a.cache_bytes) {
    const CreatedLayers created(list, forced, machine_of(cache));
    reports.push_back(report_of(list, created, a, cache));
    reports.back().chains = chains_of(list, created, cache);
    if (a.batch > 1) {
      const LayerList single = parse_layers(a.network, 1, a.types);
      const CreatedLayers ones(single, forced, machine_of(cache));
      reports.back().one_by_one = report_of(single, ones, a, cache).layers;
      reports.back().one_in_chains = chains_of(single, ones, cache);
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
