// SPDX-License-Identifier: Apache-2.0
// Connects the convolutions of each network that has a name.
#include "bench/cases/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "bench/machine/api.h"

namespace tool {
namespace {

struct Size {
  size_t h, w;
};

class Builder {
 public:
  Builder(std::string name, Size size, size_t channels) {
    graph_.name = std::move(name);
    at_ = tensor(size.h, size.w, channels);
  }

  size_t at() const { return at_; }  // the last op's output
  const octet_network_tensor& tensor_at() const { return graph_.tensors[at_]; }
  void from(size_t tensor) { at_ = tensor; }

  size_t tensor(size_t h, size_t w, size_t channels) {
    octet_network_tensor t = {};
    t.batch = 1, t.h = h, t.w = w, t.channels = channels, t.type = OCTET_U8;
    graph_.tensors.push_back(t);
    return graph_.tensors.size() - 1;
  }
  size_t slice(size_t parent, size_t first, size_t channels) {
    octet_network_tensor t = graph_.tensors[parent];
    t.slice = 1, t.parent = parent, t.first_channel = first, t.channels = channels;
    graph_.tensors.push_back(t);
    return graph_.tensors.size() - 1;
  }

  size_t conv(const std::string& name, size_t channels, size_t kernel, size_t stride = 1,
              bool relu = true, size_t residual = kNoTensor, size_t groups = 1,
              size_t output = kNoTensor) {
    octet_conv2d_shape s = window(kernel, stride, (kernel - 1) / 2);
    s.out_channels = channels, s.groups = groups;
    return add({OpKind::kConvolution, name, s, at_, output, residual, relu});
  }
  size_t depthwise(const std::string& name, size_t stride) {
    const size_t channels = tensor_at().channels;
    return conv(name, channels, 3, stride, true, kNoTensor, channels);
  }
  size_t up(const std::string& name, size_t channels, size_t output) {  // transposed, 2x2
    octet_conv2d_shape s = window(2, 2, 0);
    s.out_channels = channels, s.transposed = 1;
    return add({OpKind::kConvolution, name, s, at_, output, kNoTensor, false});
  }
  size_t pool(size_t kernel, size_t stride, size_t pad) {
    octet_conv2d_shape s = window(kernel, stride, pad);
    s.out_channels = tensor_at().channels;
    return add({OpKind::kPool, "pool", s, at_, kNoTensor, kNoTensor, false});
  }
  size_t deeper(size_t times) {
    const octet_network_tensor t = tensor_at();
    const size_t output = tensor(t.h * times, t.w * times, t.channels / times / times);
    octet_conv2d_shape s = window(times, 1, 0);
    graph_.ops.push_back({OpKind::kDeeper, "depth to space", s, at_, output, kNoTensor, false});
    return at_ = output;
  }

  Graph done() {
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      bool read = false;
      for (const GraphOp& op : graph_.ops)
        for (const size_t input : {op.input, op.residual})
          read |= input != kNoTensor && alias_root(input) == i;
      if (i == 0 || (!read && !graph_.tensors[i].slice)) graph_.tensors[i].keep = 1;
    }
    return std::move(graph_);
  }

 private:
  size_t alias_root(size_t i) const {
    return graph_.tensors[i].slice ? graph_.tensors[i].parent : i;
  }
  octet_conv2d_shape window(size_t kernel, size_t stride, size_t pad) const {
    octet_conv2d_shape s = OCTET_CONV2D_SHAPE_INIT;
    const octet_network_tensor& t = graph_.tensors[at_];
    s.in_h_max = t.h, s.in_w_max = t.w, s.in_channels = t.channels;
    s.kernel_h = s.kernel_w = kernel, s.stride_h = s.stride_w = stride;
    s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = pad;
    return s;
  }
  size_t add(GraphOp op) {
    size_t h = 0, w = 0;
    octet_error error = {};
    check(octet_conv2d_output_size(&op.shape, op.shape.in_h_max, op.shape.in_w_max, &h, &w, &error),
          error);
    if (op.output == kNoTensor) op.output = tensor(h, w, op.shape.out_channels);
    graph_.ops.push_back(op);
    return at_ = op.output;
  }

  Graph graph_;
  size_t at_ = 0;
};

// v1.5: the stride sits in the 3x3.
Graph resnet50(Size size) {
  Builder b("resnet50", size, 3);
  b.conv("stem", 64, 7, 2);
  b.pool(3, 2, 1);
  const size_t blocks[] = {3, 4, 6, 3};
  for (size_t stage = 0; stage < 4; ++stage)
    for (size_t i = 0; i < blocks[stage]; ++i) {
      const std::string block = fmt::format("conv{}_{} ", stage + 2, i + 1);
      const size_t channels = (size_t)64 << stage, stride = i == 0 && stage ? 2 : 1, in = b.at();
      const size_t residual = i ? in : b.conv(block + "projection", 4 * channels, 1, stride, false);
      b.from(in);
      b.conv(block + "1x1", channels, 1);
      b.conv(block + "3x3", channels, 3, stride);
      b.conv(block + "1x1 last", 4 * channels, 1, 1, true, residual);
    }
  return b.done();
}

// A block of its first stage.
Graph bottleneck(Size size) {
  Builder b("bottleneck", size, 256);
  const size_t in = b.at();
  b.conv("1x1", 64, 1);
  b.conv("3x3", 64, 3);
  b.conv("1x1 last", 256, 1, 1, true, in);
  return b.done();
}

Graph mobilenet_v2(Size size) {
  Builder b("mobilenet_v2", size, 3);
  b.conv("stem", 32, 3, 2);
  const struct {
    size_t times, channels, count, stride;
  } stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  size_t number = 0;
  for (const auto& stage : stages)
    for (size_t i = 0; i < stage.count; ++i) {
      const std::string block = fmt::format("block{} ", ++number);
      const size_t in = b.at(), channels = b.tensor_at().channels, stride = i ? 1 : stage.stride;
      if (stage.times > 1) b.conv(block + "expand", stage.times * channels, 1);
      b.depthwise(block + "depthwise", stride);
      const bool residual = stride == 1 && channels == stage.channels;
      b.conv(block + "project", stage.channels, 1, 1, false, residual ? in : kNoTensor);
    }
  b.conv("head", 1280, 1);
  return b.done();
}

Graph vgg16(Size size) {
  Builder b("vgg16", size, 3);
  const size_t count[] = {2, 2, 3, 3, 3}, channels[] = {64, 128, 256, 512, 512};
  for (size_t stage = 0; stage < 5; ++stage) {
    for (size_t i = 0; i < count[stage]; ++i)
      b.conv(fmt::format("conv{}_{}", stage + 1, i + 1), channels[stage], 3);
    b.pool(2, 2, 0);
  }
  return b.done();
}

constexpr size_t kUnetLevels = 2, kUnetChannels = 64;

void down(Builder* b, size_t level, size_t output = kNoTensor) {
  const size_t channels = kUnetChannels << level;
  b->conv(fmt::format("down{}_1", level + 1), channels, 3);
  b->conv(fmt::format("down{}_2", level + 1), channels, 3, 1, true, kNoTensor, 1, output);
}

// After Ronneberger et al. 2015, with padding and two of the five levels: outputs of the way down
// and of the way up are slices of one tensor.
Graph unet(Size size) {
  Builder b("unet", size, 3);
  size_t joined[kUnetLevels];
  for (size_t level = 0; level + 1 < kUnetLevels; ++level) {
    const octet_network_tensor t = b.tensor_at();
    const size_t channels = kUnetChannels << level;
    joined[level] = b.tensor(t.h, t.w, 2 * channels);
    down(&b, level, b.slice(joined[level], 0, channels));
    b.pool(2, 2, 0);
  }
  down(&b, kUnetLevels - 1);
  for (size_t level = kUnetLevels - 1; level-- > 0;) {
    const size_t channels = kUnetChannels << level;
    b.up(fmt::format("up{}", level + 1), channels, b.slice(joined[level], channels, channels));
    b.from(joined[level]);
    b.conv(fmt::format("up{}_1", level + 1), channels, 3);
    b.conv(fmt::format("up{}_2", level + 1), channels, 3);
  }
  b.conv("classes", 2, 1, 1, false);
  return b.done();
}

// U-Net's way down.
Graph unet_encoder(Size size) {
  Builder b("unet_encoder", size, 3);
  for (size_t level = 0; level < kUnetLevels; ++level) {
    if (level) b.pool(2, 2, 0);
    down(&b, level);
  }
  return b.done();
}

// After Shi et al. 2016: twice the size along each axis.
Graph espcn(Size size) {
  Builder b("espcn", size, 1);
  b.conv("features", 64, 5);
  b.conv("map", 32, 3);
  b.conv("sub-pixels", 4, 3, 1, false);
  b.deeper(2);
  return b.done();
}

struct Maker {
  const char* name;
  Size usual;
  Graph (*make)(Size size);
};
constexpr Maker kMakers[] = {{"resnet50", {224, 224}, resnet50},
                             {"mobilenet_v2", {224, 224}, mobilenet_v2},
                             {"vgg16", {224, 224}, vgg16},
                             {"unet", {512, 512}, unet},
                             {"unet_encoder", {512, 512}, unet_encoder},
                             {"espcn", {540, 960}, espcn},
                             {"bottleneck", {56, 56}, bottleneck}};

const Maker* find_maker(const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  for (const Maker& maker : kMakers)
    if (name == maker.name) return &maker;
  return nullptr;
}

}  // namespace

ConvShape convolution_of(const Graph& graph, const GraphOp& op) {
  const octet_network_tensor& out = graph.tensors[op.output];
  return parse_conv(ConvShape{op.shape, out.h, out.w}.name());
}

bool is_graph(const std::string& text) { return find_maker(text) != nullptr; }

std::vector<std::string> graph_names() {
  std::vector<std::string> names;
  for (const Maker& maker : kMakers) names.push_back(maker.name);
  return names;
}

Graph make_graph(const std::string& text) {
  const Maker* const maker = find_maker(text);
  if (!maker)
    throw Error(fmt::format("there is no network '{}', but {}", text.substr(0, text.find(':')),
                            fmt::join(graph_names(), ", ")));
  Size size = maker->usual;
  if (const size_t colon = text.find(':'); colon != std::string::npos) {
    const char* const given = text.c_str() + colon + 1;
    int end = 0;
    if (std::sscanf(given, "%zux%zu%n", &size.h, &size.w, &end) == 2 && !given[end])
      ;
    else if (std::sscanf(given, "%zu%n", &size.h, &end) == 1 && !given[end])
      size.w = size.h;
    else
      throw Error(fmt::format("{}: '{}' is no size such as 224 or 540x960", text, given));
  }
  if (size.h < 32 || size.w < 32 || size.h > 8192 || size.w > 8192)
    throw Error(fmt::format("{}: sizes are from 32 to 8192", text));
  Graph graph = maker->make(size);
  graph.name = text;
  return graph;
}

}  // namespace tool
