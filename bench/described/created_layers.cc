// SPDX-License-Identifier: Apache-2.0
// Packs and creates a list of layers, and places their tensors.
#include "bench/described/created_layers.h"

#include <algorithm>
#include <cstring>

#include "bench/problems/candidates.h"
#include "bench/problems/conv_plan.h"
#include "bench/problems/gemm_plan.h"

namespace tool {
namespace {

Operands operands_of(const Layer& layer) {
  Operands operands;
  operands.residual = layer.inputs.size() > 1;
  return operands;
}

// The predicted time of the chosen algorithm, without the memory's.
double compute_us(const ConvShape& shape, const OperandTypes& types, const Forced& forced,
                  const octet_machine& machine, octet_conv_algorithm algorithm) {
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  filter.shape = shape.geometry;
  filter.type = types.rhs;
  filter.machine = &machine;
  for (const octet_conv2d_candidate& c : candidates(filter, forced.isa))
    if (c.algorithm == algorithm) return c.compute_microseconds + c.transform_microseconds;
  return 0;
}

ConvShape as_convolution(const GemmShape& shape) {
  ConvShape conv = {OCTET_CONV2D_SHAPE_INIT, shape.m, 1};
  conv.geometry.in_h_max = shape.m;
  conv.geometry.in_w_max = 1;
  conv.geometry.in_channels = shape.k;
  conv.geometry.out_channels = shape.n;
  conv.geometry.kernel_h = conv.geometry.kernel_w = 1;
  return conv;
}

}  // namespace

CreatedLayers::CreatedLayers(const LayerList& list, const Forced& forced,
                             const octet_machine& machine)
    : list_(list), forced_(forced), machine_(machine), arena_(lay_out_maps(list)) {
  constexpr size_t kPage = 4096, kHugePage = 2 << 20;
  const auto round_up = [](size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; };
  std::vector<Builder> builders;
  size_t bytes = round_up(arena_.bytes, kPage);
  for (const Layer& layer : list.layers) {
    builders.push_back(pack(layer));
    Builder& builder = builders.back();
    builder.packed_at = bytes;
    bytes += round_up(builder.packed.size(), kPage);
    const Created tried = create(layer, builder, builder.packed.as());
    workspace_bytes_ = std::max(workspace_bytes_, workspace_of(layer, tried));
  }
  buffer_ = Buffer(bytes + workspace_bytes_ + kHugePage);
  memory_ = (uint8_t*)round_up((uintptr_t)buffer_.as(), kHugePage);
  workspace_ = memory_ + bytes;
  for (size_t i = 0; i < list.layers.size(); ++i) {
    const Builder& builder = builders[i];
    if (builder.packed.size())
      std::memcpy(memory_ + builder.packed_at, builder.packed.as(), builder.packed.size());
    layers_.push_back(create(list.layers[i], builder, memory_ + builder.packed_at));
    tell_facts(list.layers[i], builder, &layers_.back());
  }
}

CreatedLayers::Builder CreatedLayers::pack(const Layer& layer) const {
  Builder builder;
  octet_error error = {};
  if (layer.kind == Layer::kConvolution) {
    builder.conv = plain_conv_data(layer.conv, layer.types, operands_of(layer));
    builder.conv.lhs = Buffer();
    octet_filter_desc filter = describe_filter(builder.conv, forced_);
    filter.machine = &machine_;
    size_t bytes = 0;
    check(octet_conv2d_pack_size(&filter, forced_.isa, &bytes, &error), error);
    builder.packed = Buffer(bytes);
    check(octet_conv2d_pack(&filter, forced_.isa, builder.packed.as(), bytes, &error), error);
  } else if (layer.kind == Layer::kProduct) {
    builder.product = plain_data(layer.product, layer.types, operands_of(layer));
    builder.packed = pack_weights(builder.product, forced_);
  }
  return builder;
}

CreatedLayers::Created CreatedLayers::create(const Layer& layer, const Builder& builder,
                                             const uint8_t* packed) const {
  Created created;
  octet_error error = {};
  if (layer.kind == Layer::kConvolution) {
    octet_conv2d_desc desc = describe_conv(builder.conv, forced_);
    desc.packed = packed;
    desc.packed_bytes = builder.packed.size();
    desc.machine = &machine_;
    octet_conv2d* conv = nullptr;
    check(octet_conv2d_create(&desc, &conv, &error), error);
    created.conv.reset(conv);
  } else if (layer.kind == Layer::kProduct) {
    octet_gemm_desc desc = describe_gemm(builder.product, forced_, builder.packed);
    desc.packed = packed;
    desc.machine = &machine_;
    octet_gemm* gemm = nullptr;
    check(octet_gemm_create(&desc, &gemm, &error), error);
    created.gemm.reset(gemm);
  }
  return created;
}

size_t CreatedLayers::workspace_of(const Layer& layer, const Created& created) const {
  size_t bytes = 0;
  octet_error error = {};
  if (created.conv)
    check(octet_conv2d_workspace(created.conv.get(), 0, 0, 0, 1, &bytes, &error), error);
  if (created.gemm)
    check(octet_gemm_workspace(created.gemm.get(), layer.product.m, 1, &bytes, &error), error);
  return bytes;
}

void CreatedLayers::tell_facts(const Layer& layer, const Builder& builder, Created* created) const {
  Facts& facts = created->facts;
  facts.algorithm = facts.kernel = "-";
  if (created->conv) {
    const octet_conv_algorithm algorithm = octet_conv2d_algorithm(created->conv.get());
    facts.algorithm = octet_conv_algorithm_name(algorithm);
    facts.kernel = octet_conv2d_kernel(created->conv.get());
    facts.compute_us = compute_us(layer.conv, layer.types, forced_, machine_, algorithm);
  } else if (created->gemm) {
    facts.algorithm = "product";
    facts.kernel = octet_gemm_kernel(created->gemm.get(), layer.product.m);
    facts.compute_us = compute_us(as_convolution(layer.product), layer.types, forced_, machine_,
                                  OCTET_CONV_DIRECT);
  }
  if (builder.packed.size())
    facts.weight_bytes = blob_bytes(builder.packed.as(), builder.packed.size());
}

octet_conv2d_args CreatedLayers::conv_args(const Layer& layer) const {
  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
  args.lhs = map(layer.inputs[0]);
  args.lhs_stride = stride(layer.inputs[0]);
  args.dst = map(layer.output);
  args.dst_stride = stride(layer.output);
  if (layer.inputs.size() > 1) {
    args.residual = map(layer.inputs[1]);
    args.residual_stride = stride(layer.inputs[1]);
  }
  args.workspace = workspace_;
  args.workspace_bytes = workspace_bytes_;
  return args;
}

octet_gemm_args CreatedLayers::gemm_args(const Layer& layer) const {
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = layer.product.m;
  args.lhs = map(layer.inputs[0]);
  args.dst = map(layer.output);
  args.workspace = workspace_;
  args.workspace_bytes = workspace_bytes_;
  return args;
}

// A function reads its inputs and writes its output line by line, all at the same pace. Without a
// traffic it reads and writes memory.
void CreatedLayers::pass_lines(const Layer& layer, octet_traffic* traffic) const {
  const size_t lines = list_.maps[layer.output].h;
  unsigned sum = 0;
  for (size_t y = 0; y < lines; ++y) {
    for (const size_t input : layer.inputs) {
      const size_t h = list_.maps[input].h;
      pass(input, h * y / lines, h * (y + 1) / lines, OCTET_OPERAND_INPUT, traffic, &sum);
    }
    pass(layer.output, y, y + 1, OCTET_OPERAND_OUTPUT, traffic, &sum);
  }
}

// Passes lines [first, end) as a whole, or pixel by pixel for a slice.
void CreatedLayers::pass(size_t index, size_t first, size_t end, octet_operand operand,
                         octet_traffic* traffic, unsigned* sum) const {
  const Map& m = list_.maps[index];
  const bool writes = operand == OCTET_OPERAND_OUTPUT, whole = m.parent == kNoMap;
  const size_t bytes = whole ? m.line_bytes() : m.channels * m.element, pieces = whole ? 1 : m.w,
               pixel = list_.pixel_bytes(index);
  octet_error error = {};
  for (size_t y = first; y < end; ++y)
    for (size_t x = 0; x < pieces; ++x) {
      uint8_t* const at = (uint8_t*)map(index) + (y * m.w + x) * pixel;
      if (traffic)
        check(octet_traffic_touch(traffic, at, bytes, operand, writes, &error), error);
      else if (writes)
        std::memset(at, (int)(*sum & 0xff), bytes);
      for (size_t i = 0; !traffic && !writes && i < bytes; ++i) *sum += at[i];
    }
}

void CreatedLayers::run() const {
  octet_error error = {};
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = list_.layers[i];
    if (layer.kind == Layer::kConvolution) {
      const octet_conv2d_args args = conv_args(layer);
      check(octet_conv2d_run(layers_[i].conv.get(), &args, &error), error);
    } else if (layer.kind == Layer::kProduct) {
      const octet_gemm_args args = gemm_args(layer);
      check(octet_gemm_run(layers_[i].gemm.get(), &args, &error), error);
    } else {
      pass_lines(layer, nullptr);
    }
  }
}

void CreatedLayers::walk(octet_traffic* traffic) const {
  octet_error error = {};
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = list_.layers[i];
    check(octet_traffic_begin(traffic, i, &error), error);
    if (layer.kind == Layer::kConvolution) {
      const octet_conv2d_args args = conv_args(layer);
      check(octet_traffic_conv2d(traffic, layers_[i].conv.get(), &args, &error), error);
    } else if (layer.kind == Layer::kProduct) {
      const octet_gemm_args args = gemm_args(layer);
      check(octet_traffic_gemm(traffic, layers_[i].gemm.get(), &args, &error), error);
    } else {
      pass_lines(layer, traffic);
    }
  }
}

}  // namespace tool
