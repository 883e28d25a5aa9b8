// SPDX-License-Identifier: Apache-2.0
// Formats the summary, the table and the JSON of a traffic report.
#include "tools/octet/traffic_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tool {
namespace {

using nlohmann::ordered_json;

constexpr const char* kOperands[OCTET_OPERANDS] = {"input", "weights", "output", "workspace"};
constexpr size_t kToChange = 3;  // layers that a summary names

double mega(uint64_t bytes) { return (double)bytes / 1e6; }

uint64_t sum(const uint64_t (&bytes)[OCTET_OPERANDS]) {
  return std::accumulate(std::begin(bytes), std::end(bytes), uint64_t{0});
}

std::string size_text(size_t bytes) {
  if (bytes % (1 << 20) == 0) return fmt::format("{} MB", bytes >> 20);
  return bytes % 1024 == 0 ? fmt::format("{} KB", bytes >> 10) : fmt::format("{} bytes", bytes);
}

// The place of an operand while a layer reads it.
const char* space(uint64_t moved, size_t bytes) {
  return bytes == 0               ? "-"
         : moved * 10 <= bytes    ? "cache"
         : moved * 10 < bytes * 9 ? "both"
                                  : "memory";
}

// Advice for a layer.
std::string advice(const LayerReport& layer) {
  const Moved& m = layer.moved;
  octet_operand most = OCTET_OPERAND_INPUT;
  for (int i = 1; i < OCTET_OPERANDS; ++i)
    if (m.of((octet_operand)i) > m.of(most)) most = (octet_operand)i;
  switch (most) {
    case OCTET_OPERAND_INPUT:
      return "its input comes from memory: run it in bands with the layer before it, or make that "
             "map smaller";
    case OCTET_OPERAND_WEIGHTS:
      return m.read[most] > layer.weight_bytes * 3 / 2
                 ? "its weights come more than once: a larger batch will not help, a smaller "
                   "filter "
                   "or an algorithm with smaller weights will"
                 : "its weights come once: more images at a time share them, 2:4 sparse ones are "
                   "fewer bytes";
    case OCTET_OPERAND_OUTPUT:
      return "its output goes to memory: run it in bands with the layer that reads it, or make "
             "that "
             "map smaller";
    case OCTET_OPERAND_WORKSPACE: break;
  }
  return "its workspace leaves the cache: blocks for a smaller cache, or another algorithm";
}

std::vector<size_t> largest(const TrafficReport& r) {
  std::vector<size_t> order(r.layers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return r.layers[a].moved.all() > r.layers[b].moved.all();
  });
  order.resize(std::min(order.size(), kToChange));
  return order;
}

double frames(const TrafficReport& r) { return r.fps / (double)r.batch; }

ordered_json to_json(const Moved& moved) {
  ordered_json json;
  for (int i = 0; i < OCTET_OPERANDS; ++i)
    json[kOperands[i]] = {{"read_bytes", moved.read[i]}, {"write_bytes", moved.written[i]}};
  return json;
}

ordered_json to_json(const TrafficReport& r, const LayerReport& l) {
  ordered_json json = {{"name", l.name},
                       {"kind", l.kind},
                       {"algorithm", l.algorithm},
                       {"kernel", l.kernel},
                       {"in_bytes", l.in_bytes},
                       {"weight_bytes", l.weight_bytes},
                       {"out_bytes", l.out_bytes},
                       {"macs", l.macs},
                       {"read_bytes", l.moved.reads()},
                       {"write_bytes", l.moved.writes()},
                       {"bytes_per_mac", l.macs > 0 ? (double)l.moved.all() / l.macs : 0},
                       {"compute_us", l.compute_us},
                       {"memory_us", r.memory_us(l)},
                       {"bound", r.memory_bound(l) ? "memory" : "compute"}};
  json["operands"] = to_json(l.moved);
  return json;
}

ordered_json brief(const std::string& name, const Moved& moved) {
  return {{"name", name}, {"read_bytes", moved.reads()}, {"write_bytes", moved.writes()}};
}

ordered_json chains_json(const TrafficReport& r) {
  const ChainsReport& c = r.chains;
  ordered_json json = {
      {"read_bytes", c.total.reads()},  {"write_bytes", c.total.writes()},
      {"map_bytes", c.map_bytes},       {"gb_per_s", (double)c.total.all() * frames(r) / 1e9},
      {"parts", ordered_json::array()}, {"layers", ordered_json::array()}};
  for (const octet_network_part& part : c.parts)
    json["parts"].push_back({{"first_layer", part.first_op},
                             {"end_layer", part.end_op},
                             {"band_lines", part.band_lines & ~OCTET_NETWORK_BY_IMAGE},
                             {"by_image", (part.band_lines & OCTET_NETWORK_BY_IMAGE) != 0}});
  for (size_t i = 0; i < c.layers.size(); ++i)
    json["layers"].push_back(brief(r.layers[i].name, c.layers[i]));
  return json;
}

ordered_json to_json(const TrafficReport& r) {
  ordered_json json = {{"network", r.network}, {"batch", r.batch}, {"cache_bytes", r.cache_bytes}};
  json["layer_by_layer"] = {{"read_bytes", r.total.reads()},
                            {"write_bytes", r.total.writes()},
                            {"map_bytes", r.map_bytes},
                            {"workspace_bytes", r.workspace_bytes},
                            {"gb_per_s", (double)r.total.all() * frames(r) / 1e9},
                            {"layers", ordered_json::array()}};
  for (const LayerReport& l : r.layers)
    json["layer_by_layer"]["layers"].push_back(brief(l.name, l.moved));
  json["chains"] = chains_json(r);
  json["layers"] = ordered_json::array();
  for (const LayerReport& layer : r.layers) json["layers"].push_back(to_json(r, layer));
  for (const size_t layer : largest(r)) json["to_change"].push_back(layer);
  if (!r.one_by_one.empty()) {
    double bytes = 0;
    const size_t from = r.merged_from(&bytes);
    const double images = (double)r.batch;
    Moved single;
    for (const LayerReport& layer : r.one_by_one) single += layer.moved;
    json["batch_merge"] = {{"from_layer", from},
                           {"bytes_per_image_one_by_one", single.all()},
                           {"bytes_per_image_together", (double)r.total.all() / images},
                           {"bytes_per_image", bytes}};
    json["batch_merge"]["chains"] = {{"from_layer", r.chains.merged_from()},
                                     {"bytes_per_image_one_by_one", r.one_in_chains.total.all()},
                                     {"bytes_per_image", (double)r.chains.total.all() / images}};
  }
  return json;
}

}  // namespace

uint64_t Moved::reads() const { return sum(read); }
uint64_t Moved::writes() const { return sum(written); }
Moved& Moved::operator+=(const Moved& other) {
  for (int i = 0; i < OCTET_OPERANDS; ++i) read[i] += other.read[i], written[i] += other.written[i];
  return *this;
}

// Images run one by one before the merged layer (operators/network/plan.cc).
size_t ChainsReport::merged_from() const {
  size_t from = 0;
  for (const octet_network_part& part : parts)
    if (part.band_lines & OCTET_NETWORK_BY_IMAGE) from = part.end_op;
  return from;
}

size_t TrafficReport::merged_from(double* bytes_per_image) const {
  const double images = (double)batch;
  double bytes = 0;
  for (const LayerReport& layer : one_by_one) bytes += (double)layer.moved.all();
  *bytes_per_image = bytes;
  size_t best = layers.size();
  for (size_t i = layers.size(); i-- > 0;) {
    bytes += (double)layers[i].moved.all() / images - (double)one_by_one[i].moved.all();
    if (bytes < *bytes_per_image) *bytes_per_image = bytes, best = i;
  }
  return best;
}

namespace {

void print_chains(const ChainsReport& c) {
  const auto chains =
      std::count_if(c.parts.begin(), c.parts.end(), [](const octet_network_part& part) {
        return (part.band_lines & ~OCTET_NETWORK_BY_IMAGE) != 0;
      });
  fmt::print("in chains       {:9.3f} MB read, {:.3f} MB written; maps {:.3f} MB; {}\n",
             mega(c.total.reads()), mega(c.total.writes()), mega(c.map_bytes),
             chains == 1 ? "1 chain" : fmt::format("{} chains", chains));
}

}  // namespace

void print_summary(const TrafficReport& r) {
  const auto bound = [&](const LayerReport& l) { return r.memory_bound(l); };
  fmt::print("{}: {} layers, batch {}, a cache of {}\n", r.network, r.layers.size(), r.batch,
             size_text(r.cache_bytes));
  fmt::print(
      "layer by layer  {:9.3f} MB read, {:.3f} MB written; maps {:.3f} MB, workspace {:.3f} MB\n",
      mega(r.total.reads()), mega(r.total.writes()), mega(r.map_bytes), mega(r.workspace_bytes));
  for (int i = 0; i < OCTET_OPERANDS; ++i)
    fmt::print("  {:<12}  {:9.3f} MB read, {:.3f} MB written\n", kOperands[i],
               mega(r.total.read[i]), mega(r.total.written[i]));
  double macs = 0, us = 0;
  for (const LayerReport& l : r.layers) {
    macs += l.macs;
    us += std::max(l.compute_us, r.memory_us(l));
  }
  print_chains(r.chains);
  fmt::print(
      "{:.4f} bytes per MAC; at {:g} images/s {:.3f} GB/s; {} of {} layers wait for memory at {:g} "
      "GB/s, {:.0f} us by the slower of both\n",
      macs > 0 ? (double)r.total.all() / macs : 0, r.fps, (double)r.total.all() * frames(r) / 1e9,
      std::count_if(r.layers.begin(), r.layers.end(), bound), r.layers.size(), r.bandwidth / 1e9,
      us);
  fmt::print("to change first:\n");
  for (const size_t i : largest(r)) {
    const LayerReport& l = r.layers[i];
    fmt::print("  {:>3} {:<24} {:9.3f} MB, {:.0f} %: {}\n", i, l.name, mega(l.moved.all()),
               100.0 * (double)l.moved.all() / (double)(std::max<uint64_t>(r.total.all(), 1)),
               advice(l));
  }
  if (r.one_by_one.empty()) return;
  double bytes = 0;
  const size_t from = r.merged_from(&bytes);
  Moved single;
  for (const LayerReport& layer : r.one_by_one) single += layer.moved;
  fmt::print("an image moves {:.3f} MB one by one, {:.3f} MB in a batch of {}", mega(single.all()),
             mega(r.total.all()) / (double)r.batch, r.batch);
  if (from == r.layers.size())
    fmt::print("; no layer is worth merging images\n");
  else
    fmt::print(", {:.3f} MB merged from layer {} on, {}\n", bytes / 1e6, from, r.layers[from].name);
  const size_t merged = r.chains.merged_from();
  fmt::print(
      "in chains {:.3f} MB one by one, {:.3f} MB in a batch of {}; {}\n",
      mega(r.one_in_chains.total.all()), mega(r.chains.total.all()) / (double)r.batch, r.batch,
      merged == r.layers.size() ? "no layer is worth merging images"
      : merged == 0
          ? "images are merged from the first layer on"
          : fmt::format("images are merged from layer {} on, {}", merged, r.layers[merged].name));
}

std::string to_csv(const TrafficReport& r) {
  std::string csv =
      "layer,name,kind,algorithm,kernel,Ni,No,InW,InH,OutW,OutH,in_bytes,weight_bytes,out_bytes,"
      "in_space,weight_space,out_space";
  for (const char* operand : kOperands) csv += fmt::format(",{0}_read,{0}_written", operand);
  csv += ",read_bytes,write_bytes,macs,bytes_per_mac,compute_us,memory_us,bound\n";
  // A name may have any characters.
  const auto quoted = [](std::string text) {
    for (size_t i = 0; (i = text.find('"', i)) != std::string::npos; i += 2) text.insert(i, 1, '"');
    return '"' + text + '"';
  };
  for (size_t i = 0; i < r.layers.size(); ++i) {
    const LayerReport& l = r.layers[i];
    const Moved& m = l.moved;
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", i, quoted(l.name),
                       l.kind, l.algorithm, l.kernel, l.in_channels, l.out_channels, l.in_w, l.in_h,
                       l.out_w, l.out_h, l.in_bytes, l.weight_bytes, l.out_bytes,
                       space(m.read[OCTET_OPERAND_INPUT], l.in_bytes),
                       space(m.read[OCTET_OPERAND_WEIGHTS], l.weight_bytes),
                       space(m.written[OCTET_OPERAND_OUTPUT], l.out_bytes));
    for (int operand = 0; operand < OCTET_OPERANDS; ++operand)
      csv += fmt::format(",{},{}", m.read[operand], m.written[operand]);
    csv += fmt::format(",{},{},{:.0f},{:.5f},{:.2f},{:.2f},{}\n", m.reads(), m.writes(), l.macs,
                       l.macs > 0 ? (double)m.all() / l.macs : 0, l.compute_us, r.memory_us(l),
                       r.memory_bound(l) ? "memory" : "compute");
  }
  return csv;
}

ordered_json to_json(const std::vector<TrafficReport>& reports) {
  ordered_json json = to_json(reports[0]);
  json["caches"] = ordered_json::array();
  for (const TrafficReport& report : reports) json["caches"].push_back(to_json(report));
  return json;
}

}  // namespace tool
