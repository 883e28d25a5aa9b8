#include "layers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cases.h"
#include "network.h"

namespace tool {
namespace {

constexpr size_t kNone = SIZE_MAX;

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

  size_t convolve(const std::string& name, const ConvShape& shape, size_t in,
                  size_t residual = kNone) {
    Layer layer = {Layer::kConvolution, name, shape, {}, types_, {in}, 0};
    if (residual != kNone) layer.inputs.push_back(residual);
    layer.output = map(shape.out_h, shape.out_w, shape.geometry.out_channels, types_.dst);
    list_.layers.push_back(layer);
    return layer.output;
  }
  // A square kernel whose padding keeps the size but for the stride.
  size_t conv(const std::string& name, size_t in, size_t out_channels, size_t kernel,
              size_t stride = 1, bool depthwise = false, size_t residual = kNone) {
    const Map& from = list_.maps[in];
    const size_t h = from.h / list_.batch, pad = (kernel - 1) / 2;
    return convolve(name,
                    parse_conv(fmt::format("{}mb{}_ic{}oc{}_ih{}kh{}sh{}ph{}_iw{}kw{}sw{}pw{}",
                                           depthwise ? fmt::format("g{}", from.channels) : "",
                                           list_.batch, from.channels, out_channels, h, kernel,
                                           stride, pad, from.w, kernel, stride, pad)),
                    in, residual);
  }
  size_t up(const std::string& name, size_t in, size_t out_channels) {  // transposed, 2x2
    const Map& from = list_.maps[in];
    return convolve(
        name,
        parse_conv(fmt::format("tmb{}_ic{}oc{}_ih{}kh2sh2_iw{}kw2sw2", list_.batch, from.channels,
                               out_channels, from.h / list_.batch, from.w)),
        in);
  }
  size_t multiply(const std::string& name, const GemmShape& shape, size_t in) {
    Layer layer = {Layer::kProduct, name, {}, shape, types_, {in}, list_.maps.size()};
    list_.maps.push_back({shape.m, 1, shape.n, type_bytes(types_.dst), types_.dst});
    list_.layers.push_back(layer);
    return layer.output;
  }
  size_t function(const std::string& name, const std::vector<size_t>& inputs, const Map& output) {
    list_.layers.push_back({Layer::kFunction, name, {}, {}, types_, inputs, list_.maps.size()});
    list_.maps.push_back(output);
    return list_.maps.size() - 1;
  }
  size_t pool(size_t in, size_t stride) {
    const Map& from = list_.maps[in];
    const size_t h = divide_up(from.h / list_.batch, stride) * list_.batch;
    return function("pool", {in},
                    {h, divide_up(from.w, stride), from.channels, from.element, from.type});
  }
  // Side by side, channel by channel. A copy: slices of one tensor would need none.
  size_t concatenate(size_t a, size_t b) {
    Map map = list_.maps[a];
    map.channels += list_.maps[b].channels;
    return function("concatenate", {a, b}, map);
  }

  const LayerList& list() const { return list_; }
  LayerList take() { return std::move(list_); }

 private:
  static size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }

  LayerList list_;
  OperandTypes types_;
};

// ---- networks by name ---------------------------------------------------------------------------

void mobilenet_v2(Builder* b, size_t h, size_t w) {
  constexpr struct {
    size_t expansion, channels, blocks, stride;
  } kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                 {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  size_t x = b->conv("stem", b->map(h, w, 3), 32, 3, 2), channels = 32, number = 0;
  for (const auto& stage : kStages)
    for (size_t i = 0; i < stage.blocks; ++i) {
      const std::string block = fmt::format("block{} ", ++number);
      const size_t stride = i ? 1 : stage.stride, wide = channels * stage.expansion;
      const bool adds = stride == 1 && channels == stage.channels;
      size_t y = stage.expansion > 1 ? b->conv(block + "expand", x, wide, 1) : x;
      y = b->conv(block + "depthwise", y, wide, 3, stride, true);
      x = b->conv(block + "project", y, stage.channels, 1, 1, false, adds ? x : kNone);
      channels = stage.channels;
    }
  b->conv("head", x, 1280, 1);
}

// v1.5: the stride sits in the 3x3.
void resnet50(Builder* b, size_t h, size_t w) {
  constexpr size_t kBlocks[] = {3, 4, 6, 3};
  size_t x = b->pool(b->conv("stem", b->map(h, w, 3), 64, 7, 2), 2);
  for (size_t stage = 0; stage < 4; ++stage)
    for (size_t i = 0; i < kBlocks[stage]; ++i) {
      const std::string block = fmt::format("conv{}_{} ", stage + 2, i + 1);
      const size_t channels = 64 << stage, stride = i == 0 && stage ? 2 : 1;
      const size_t skip = i ? x : b->conv(block + "projection", x, 4 * channels, 1, stride);
      const size_t reduced = b->conv(block + "1x1", x, channels, 1),
                   y = b->conv(block + "3x3", reduced, channels, 3, stride);
      x = b->conv(block + "1x1 last", y, 4 * channels, 1, 1, false, skip);
    }
}

void vgg16(Builder* b, size_t h, size_t w) {
  constexpr size_t kConvs[] = {2, 2, 3, 3, 3}, kChannels[] = {64, 128, 256, 512, 512};
  size_t x = b->map(h, w, 3);
  for (size_t stage = 0; stage < 5; ++stage) {
    for (size_t i = 0; i < kConvs[stage]; ++i)
      x = b->conv(fmt::format("conv{}_{}", stage + 1, i + 1), x, kChannels[stage], 3);
    x = b->pool(x, 2);
  }
}

// Two levels.
void unet(Builder* b, size_t h, size_t w) {
  constexpr size_t kChannels = 64;
  size_t x = b->conv("down1_1", b->map(h, w, 3), kChannels, 3);
  const size_t skip = b->conv("down1_2", x, kChannels, 3);
  x = b->conv("down2_1", b->pool(skip, 2), 2 * kChannels, 3);
  x = b->conv("down2_2", x, 2 * kChannels, 3);
  x = b->concatenate(skip, b->up("up", x, kChannels));
  x = b->conv("up1_1", x, kChannels, 3);
  b->conv("up1_2", x, kChannels, 3);
}

void espcn(Builder* b, size_t h, size_t w) {
  size_t x = b->conv("5x5", b->map(h, w, 1), 64, 5);
  x = b->conv("3x3", x, 32, 3);
  b->conv("to pixels", x, 4, 3);
}

// The way down of a U-Net.
void unet_encoder(Builder* b, size_t h, size_t w) {
  size_t x = b->conv("down1_1", b->map(h, w, 3), 64, 3);
  x = b->pool(b->conv("down1_2", x, 64, 3), 2);
  x = b->conv("down2_1", x, 128, 3);
  b->conv("down2_2", x, 128, 3);
}

// A block of ResNet-50's first stage.
void bottleneck(Builder* b, size_t h, size_t w) {
  const size_t x = b->map(h, w, 256), reduced = b->conv("1x1", x, 64, 1);
  b->conv("1x1 last", b->conv("3x3", reduced, 64, 3), 256, 1, 1, false, x);
}

struct Named {
  const char* name;
  size_t h, w;
  void (*build)(Builder* b, size_t h, size_t w);
};
constexpr Named kNetworks[] = {{"mobilenet_v2", 224, 224, mobilenet_v2},
                               {"resnet50", 224, 224, resnet50},
                               {"vgg16", 224, 224, vgg16},
                               {"unet", 512, 512, unet},
                               {"unet_encoder", 512, 512, unet_encoder},
                               {"espcn", 540, 960, espcn},
                               {"bottleneck", 56, 56, bottleneck}};

// "name" or "name:HxW"; null if there is no such network.
const Named* find_named(const std::string& text, size_t* h, size_t* w) {
  constexpr size_t kLargest = 8192;
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  for (const Named& network : kNetworks) {
    if (name != network.name) continue;
    *h = network.h, *w = network.w;
    size_t numbers[3];
    if (colon == std::string::npos) return &network;
    if (!parse_triple(text.substr(colon + 1) + "x1", numbers) || numbers[0] > kLargest ||
        numbers[1] > kLargest || numbers[0] < 32 || numbers[1] < 32)
      throw Error(fmt::format("'{}': a size is HxW, each from 32 to {}", text, kLargest));
    *h = numbers[0], *w = numbers[1];
    return &network;
  }
  return nullptr;
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
      : graph_(graph), list_{graph.name, batch, {}, {}}, maps_(graph.tensors.size(), kNone) {}

  LayerList read() {
    for (const NetworkOperator& op : graph_.operators) add(op);
    if (list_.layers.empty()) throw Error(fmt::format("{} has no operators", graph_.name));
    return list_;
  }

 private:
  size_t map_for(size_t tensor) {
    const NetworkTensor& t = graph_.tensors[tensor];
    if (t.constant || t.shape.empty()) return kNone;
    if (maps_[tensor] == kNone) {
      maps_[tensor] = list_.maps.size();
      list_.maps.push_back(map_of(t, list_.batch));
    }
    return maps_[tensor];
  }

  void add(const NetworkOperator& op) {
    Layer layer = {Layer::kFunction, op.name, {}, {}, {}, {}, 0};
    for (const size_t tensor : op.inputs)
      if (const size_t map = map_for(tensor); map != kNone) layer.inputs.push_back(map);
    const size_t output = op.outputs.empty() ? kNone : map_for(op.outputs[0]);
    if (layer.inputs.empty() || output == kNone) return;
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
  Builder builder(name, batch, types);
  size_t h, w;
  if (const Named* network = find_named(name, &h, &w)) {
    network->build(&builder, h, w);
    return builder.take();
  }
  for (const CaseGroup& group : parse_cases({name})) add_cases(&builder, group);
  return builder.take();
}

double Layer::macs() const {
  return kind == kConvolution ? conv.ops() / 2 : kind == kProduct ? product.ops() / 2 : 0;
}

std::vector<std::string> layered_network_names() {
  std::vector<std::string> names;
  for (const Named& network : kNetworks) names.push_back(network.name);
  return names;
}

MapArena lay_out_maps(const LayerList& list) {
  struct Life {
    size_t first, last;  // layers
  };
  const size_t end = list.layers.size();
  std::vector<Life> lives(list.maps.size(),
                          Life{0, end});  // inputs from the start, outputs to the end
  std::vector<bool> read(list.maps.size());
  for (size_t i = 0; i < end; ++i) {
    lives[list.layers[i].output].first = i;
    for (const size_t map : list.layers[i].inputs) lives[map].last = i, read[map] = true;
  }
  std::vector<size_t> order(list.maps.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return list.maps[a].bytes() > list.maps[b].bytes(); });
  constexpr size_t kAlignment = 64;
  const auto room = [&](size_t map) {
    return (list.maps[map].bytes() + kAlignment - 1) / kAlignment * kAlignment;
  };
  MapArena arena = {std::vector<size_t>(list.maps.size()), 0};
  std::vector<size_t> placed;
  for (const size_t map : order) {
    std::vector<std::pair<size_t, size_t>> taken;  // by others that live then
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
  return arena;
}

}  // namespace tool
