// SPDX-License-Identifier: Apache-2.0
// Makes a list of connected layers of a named or a described network.
#include "bench/cases/layers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/cases/cases.h"
#include "bench/cases/graph.h"
#include "bench/cases/network.h"

namespace tool {
namespace {

// Adds layer after layer; each gives the number of its map.
class Builder {
 public:
  Builder(const std::string& name, size_t batch, const std::string& types)
      : types_(parse_types(types)) {
    list_.name = name;
    list_.batch = batch;
  }

  size_t map(size_t h, size_t w, size_t channels) { return map(h, w, channels, types_.lhs); }
  size_t map(size_t h, size_t w, size_t channels, octet_type type) {
    list_.maps.push_back({h * list_.batch, w, channels, type_bytes(type), type});
    return list_.maps.size() - 1;
  }

  size_t convolve(const std::string& name, const ConvShape& shape, size_t in) {
    Layer layer = {Layer::kConvolution, name, shape, {}, types_, {in}, 0};
    layer.output = map(shape.out_h, shape.out_w, shape.geometry.out_channels, types_.dst);
    list_.layers.push_back(layer);
    return layer.output;
  }
  size_t multiply(const std::string& name, const GemmShape& shape, size_t in) {
    Layer layer = {Layer::kProduct, name, {}, shape, types_, {in}, list_.maps.size()};
    list_.maps.push_back({shape.m, 1, shape.n, type_bytes(types_.dst), types_.dst});
    list_.layers.push_back(layer);
    return layer.output;
  }
  const LayerList& list() const { return list_; }
  LayerList take() { return std::move(list_); }

 private:
  LayerList list_;
  OperandTypes types_;
};

// ---- networks by name ---------------------------------------------------------------------------

ConvShape of_batch(ConvShape shape, size_t batch) {
  shape.geometry.batch_max = batch;
  return shape;
}

// Outputs have the type that operators write, all other maps the type that they read.
LayerList layers_of(const Graph& graph, size_t batch, const OperandTypes& types) {
  LayerList list = {graph.name, batch, {}, {}};
  for (const octet_network_tensor& t : graph.tensors) {
    Map map = {t.h * batch, t.w, t.channels, type_bytes(types.lhs), types.lhs};
    if (t.slice) map.parent = t.parent, map.first_channel = t.first_channel;
    list.maps.push_back(map);
  }
  for (const GraphOp& op : graph.ops) {
    Layer layer = {Layer::kFunction, op.name, {}, {}, types, {op.input}, op.output};
    if (op.residual != kNoTensor) layer.inputs.push_back(op.residual);
    if (op.kind == OpKind::kConvolution) {
      layer.kind = Layer::kConvolution;
      layer.conv = of_batch(convolution_of(graph, op), batch);
      Map& output = list.maps[op.output];
      output.type = types.dst, output.element = type_bytes(types.dst);
    } else {
      layer.lines = lines_of(op);
    }
    list.layers.push_back(layer);
  }
  for (const Map& map : list.maps)  // a slice has its parent's type
    if (map.parent != kNoMap) {
      Map& parent = list.maps[map.parent];
      parent.type = map.type, parent.element = map.element;
    }
  return list;
}

// ---- cases, one after the other -----------------------------------------------------------------

// A case reads the map before it, if that is as large as its input.
size_t input_of(Builder* b, size_t h, size_t w, size_t channels) {
  const LayerList& list = b->list();
  if (!list.maps.empty()) {
    const Map& last = list.maps.back();
    if (last.h == h * list.batch && last.w == w && last.channels == channels)
      return list.maps.size() - 1;
  }
  return b->map(h, w, channels);
}

void add_cases(Builder* b, const CaseGroup& group) {
  const LayerList& list = b->list();
  for (const ConvCase& c : group.convolutions)
    for (int i = 0; i < c.count; ++i) {
      ConvShape shape = c.shape;
      octet_conv2d_shape& g = shape.geometry;
      if (g.batch_max == 1) g.batch_max = list.batch;
      const size_t in =
          input_of(b, g.in_h_max * g.batch_max / list.batch, g.in_w_max, g.in_channels);
      b->convolve(shape.name(), shape, in);
    }
  for (const GemmCase& c : group.products)
    for (int i = 0; i < c.count; ++i) {
      const GemmShape shape = {c.shape.m * list.batch, c.shape.n, c.shape.k};
      b->multiply(shape.name(), shape, input_of(b, c.shape.m, 1, c.shape.k));
    }
}

// ---- a model's graph ----------------------------------------------------------------------------

Map map_of(const NetworkTensor& tensor, size_t batch) {
  Map map = {batch, 1, 1, tensor.element, tensor.type};
  size_t bytes = batch * tensor.element;
  for (const size_t size : tensor.shape)
    if (__builtin_mul_overflow(bytes, size, &bytes) || bytes > PTRDIFF_MAX)
      throw Error(fmt::format("a tensor of {} in a batch of {} leaves size_t",
                              fmt::join(tensor.shape, " x "), batch));
  const std::vector<size_t>& s = tensor.shape;
  if (s.size() == 4) return {batch * s[0] * s[1], s[2], s[3], tensor.element, tensor.type};
  for (size_t i = 0; i + 1 < s.size(); ++i) map.h *= s[i];
  if (!s.empty()) map.channels = s.back();
  return map;
}

// Tensors become maps when an operator reads or writes them; constants and unknown sizes do not.
class GraphReader {
 public:
  GraphReader(const NetworkGraph& graph, size_t batch)
      : graph_(graph), list_{graph.name, batch, {}, {}}, maps_(graph.tensors.size(), kNoMap) {}

  LayerList read() {
    for (const NetworkOperator& op : graph_.operators) add(op);
    if (list_.layers.empty()) throw Error(fmt::format("{} has no operators", graph_.name));
    return list_;
  }

 private:
  size_t map_for(size_t tensor) {
    const NetworkTensor& t = graph_.tensors[tensor];
    if (t.constant || t.shape.empty()) return kNoMap;
    if (maps_[tensor] == kNoMap) {
      maps_[tensor] = list_.maps.size();
      list_.maps.push_back(map_of(t, list_.batch));
    }
    return maps_[tensor];
  }

  void add(const NetworkOperator& op) {
    Layer layer = {Layer::kFunction, op.name, {}, {}, {}, {}, 0};
    for (const size_t tensor : op.inputs)
      if (const size_t map = map_for(tensor); map != kNoMap) layer.inputs.push_back(map);
    const size_t output = op.outputs.empty() ? kNoMap : map_for(op.outputs[0]);
    if (layer.inputs.empty() || output == kNoMap) return;
    layer.output = output;
    if (op.kind == "convolution") {
      layer.kind = Layer::kConvolution;
      layer.conv = parse_conv(op.shape);
      octet_conv2d_shape& g = layer.conv.geometry;
      g.batch_max *= list_.batch;
      check_sizes(layer, layer.conv.in_pixels() * g.in_channels,
                  layer.conv.out_pixels() * g.out_channels);
    } else if (op.kind == "product") {
      layer.kind = Layer::kProduct;
      layer.product = parse_product(op.shape, "").shape;
      layer.product.m *= list_.batch;
      check_sizes(layer, layer.product.m * layer.product.k, layer.product.m * layer.product.n);
    }
    if (layer.kind != Layer::kFunction) {
      layer.types = parse_types(op.types);
      layer.inputs.resize(1);
    }
    list_.layers.push_back(layer);
  }

  void check_sizes(const Layer& layer, size_t in, size_t out) const {
    const auto elements = [&](size_t map) {
      return list_.maps[map].bytes() / list_.maps[map].element;
    };
    if (elements(layer.inputs[0]) != in || elements(layer.output) != out)
      throw Error(fmt::format("{}: the tensors of '{}' have other sizes than its case", graph_.name,
                              layer.name));
  }

  const NetworkGraph& graph_;
  LayerList list_;
  std::vector<size_t> maps_;
};

}  // namespace

LayerList parse_layers(const std::string& name, size_t batch, const std::string& types) {
  if (is_network_file(name)) return GraphReader(read_graph(name), batch).read();
  if (is_graph(name)) return layers_of(make_graph(name), batch, parse_types(types));
  Builder builder(name, batch, types);
  for (const CaseGroup& group : parse_cases({name})) add_cases(&builder, group);
  return builder.take();
}

double Layer::macs() const {
  return kind == kConvolution ? conv.ops() / 2 : kind == kProduct ? product.ops() / 2 : 0;
}

MapArena lay_out_maps(const LayerList& list) {
  struct Life {
    size_t first, last;  // layers
  };
  const size_t end = list.layers.size(), count = list.maps.size();
  std::vector<Life> lives(count, Life{end, 0});
  std::vector<bool> written(count), read(count);
  const auto lives_in = [&](size_t layer, size_t map) {
    Life& life = lives[list.alias_root(map)];
    life.first = std::min(life.first, layer), life.last = std::max(life.last, layer);
  };
  for (size_t i = 0; i < end; ++i) {
    lives_in(i, list.layers[i].output), written[list.alias_root(list.layers[i].output)] = true;
    for (const size_t map : list.layers[i].inputs)
      lives_in(i, map), read[list.alias_root(map)] = true;
  }
  std::vector<size_t> order;
  for (size_t i = 0; i < count; ++i) {
    if (!written[i]) lives[i].first = 0;  // inputs from the start, outputs to the end
    if (!read[i]) lives[i].last = end;
    if (list.alias_root(i) == i) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return list.maps[a].bytes() > list.maps[b].bytes(); });
  constexpr size_t kAlignment = 64;
  const auto room = [&](size_t map) {
    return (list.maps[map].bytes() + kAlignment - 1) / kAlignment * kAlignment;
  };
  MapArena arena = {std::vector<size_t>(count), 0};
  std::vector<size_t> placed;
  for (const size_t map : order) {
    std::vector<std::pair<size_t, size_t>> taken;  // by maps that are live at the same time
    for (const size_t other : placed)
      if (lives[other].first <= lives[map].last && lives[map].first <= lives[other].last)
        taken.push_back({arena.offsets[other], arena.offsets[other] + room(other)});
    std::sort(taken.begin(), taken.end());
    size_t at = 0;
    for (const auto& [first, last] : taken) {
      if (at + room(map) <= first) break;
      at = std::max(at, last);
    }
    arena.offsets[map] = at;
    arena.bytes = std::max(arena.bytes, at + room(map));
    placed.push_back(map);
  }
  for (size_t i = 0; i < count; ++i)
    if (const Map& map = list.maps[i]; map.parent != kNoMap)
      arena.offsets[i] = arena.offsets[map.parent] + map.first_channel * map.element;
  return arena;
}

}  // namespace tool
