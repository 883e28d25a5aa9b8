// SPDX-License-Identifier: Apache-2.0
// Makes one network of a list of layers, and walks it.
#include "bench/described/chained_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tool {
namespace {

std::vector<octet_network_tensor> tensors_of(const LayerList& list) {
  std::vector<bool> written(list.maps.size()), read(list.maps.size());
  for (const Layer& layer : list.layers) {
    written[list.alias_root(layer.output)] = true;
    for (const size_t map : layer.inputs) read[list.alias_root(map)] = true;
  }
  std::vector<octet_network_tensor> tensors;
  for (size_t i = 0; i < list.maps.size(); ++i) {
    const Map& map = list.maps[i];
    octet_network_tensor t = {};
    t.batch = map.h % list.batch ? 1 : list.batch;
    t.h = map.h / t.batch, t.w = map.w, t.channels = map.channels, t.type = map.type;
    t.keep = map.parent == kNoMap && (!written[i] || !read[i]);
    if (map.parent != kNoMap)
      t.slice = 1, t.parent = map.parent, t.first_channel = map.first_channel;
    tensors.push_back(t);
  }
  return tensors;
}

uint8_t* pixel(const octet_network_image& image, size_t y, size_t x) {
  return (uint8_t*)octet_network_line(&image, y) + x * image.pixel;
}

// Reads the function's lines and writes its output's bytes.
void pass_lines(void* context, const octet_network_call* call) {
  const PassedLines& p = *(const PassedLines*)context;
  const octet_network_function& f = p.lines;
  const size_t stride = std::max<size_t>(f.stride_h, 1), repeat = std::max<size_t>(f.repeat_h, 1);
  const octet_network_image& out = call->output;
  for (size_t y = call->first; y < call->end; ++y) {
    unsigned sum = 0;
    for (size_t k = 0; k < p.input_elements.size(); ++k) {
      const octet_network_image& in = call->inputs[k];
      const size_t count = f.kernel_h ? f.kernel_h : in.h,
                   bytes = in.channels * p.input_elements[k];
      for (size_t t = 0; t < count; ++t) {
        // Lines above the image wrap around
        const size_t line = f.kernel_h ? (y * stride + t - f.pad_top) / repeat : t;
        if (line >= in.h) continue;
        for (size_t x = 0; x < in.w; ++x) {
          const uint8_t* const from = pixel(in, line, x);
          for (size_t i = 0; i < bytes; ++i) sum += from[i];
        }
      }
    }
    for (size_t x = 0; x < out.w; ++x)
      std::memset(pixel(out, y, x), (int)(sum & 0xff), out.channels * p.output_element);
  }
}

// The lines of the input that an output line needs, by the sizes: the same number of lines, a
// multiple or a fraction; else all of them.
octet_network_function function_of(const Layer& layer, const Map& in, const Map& out) {
  octet_network_function f = layer.lines;
  f.run = pass_lines;
  if (f.kernel_h) return f;
  if (in.h % out.h == 0)
    f.kernel_h = f.stride_h = in.h / out.h;
  else if (out.h % in.h == 0)
    f.kernel_h = 1, f.repeat_h = out.h / in.h;
  return f;
}

}  // namespace

ChainedLayers::ChainedLayers(const LayerList& list, const CreatedLayers& created,
                             size_t cache_bytes) {
  const std::vector<octet_network_tensor> tensors = tensors_of(list);
  std::vector<octet_network_op> ops(list.layers.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    const Layer& layer = list.layers[i];
    if (layer.inputs.size() > OCTET_NETWORK_INPUTS_MAX)
      throw Error(fmt::format("'{}' has {} inputs; networks have ops of at most {}", layer.name,
                              layer.inputs.size(), OCTET_NETWORK_INPUTS_MAX));
    octet_network_op& op = ops[i] = {};
    op.conv2d = created.conv(i), op.gemm = created.gemm(i);
    if (!op.conv2d && !op.gemm) {
      functions_.push_back({function_of(layer, list.maps[layer.inputs[0]], list.maps[layer.output]),
                            {},
                            list.maps[layer.output].element});
      PassedLines& passed = functions_.back();
      passed.lines.context = &passed;
      for (const size_t map : layer.inputs) passed.input_elements.push_back(list.maps[map].element);
      op.function = &passed.lines;
    }
    for (const size_t map : layer.inputs) op.inputs[op.input_count++] = map;
    op.output = layer.output;
  }
  octet_network_desc desc = OCTET_NETWORK_DESC_INIT;
  desc.tensors = tensors.data(), desc.tensor_count = tensors.size();
  desc.ops = ops.data(), desc.op_count = ops.size();
  desc.cache_bytes = cache_bytes, desc.goal = OCTET_NETWORK_TRAFFIC;
  std::vector<size_t> room;
  for (const Map& map : list.maps) room.push_back(map.bytes());
  network_ = std::make_unique<PlacedNetwork>(desc, room);
}

void ChainedLayers::run() const { network_->run(); }

void ChainedLayers::walk(octet_traffic* traffic) const {
  octet_error error = {};
  check(octet_traffic_begin(traffic, 0, &error), error);
  check(octet_traffic_network(traffic, network_->get(), network_->args(), &error), error);
}

size_t ChainedLayers::map_bytes() const {
  const octet_network_explanation& whole = network_->parts()[0];
  return whole.map_bytes + whole.kept_bytes;
}

std::vector<octet_network_part> ChainedLayers::chains() const {
  std::vector<octet_network_part> chains;
  for (const octet_network_explanation& e : network_->parts())
    if (e.part.band_lines) chains.push_back(e.part);
  return chains;
}

}  // namespace tool
