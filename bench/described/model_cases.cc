// SPDX-License-Identifier: Apache-2.0
// Reads the operands of a described model's layers.
#include "bench/described/model_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "bench/cases/network.h"
#include "bench/described/described.h"

namespace tool {
namespace {

template <typename Number>
std::vector<Number> copied(const Number* from, size_t count) {
  return from ? std::vector<Number>(from, from + count) : std::vector<Number>();
}

// Reads the fields that convolutions and products share.
template <typename Desc, typename Data>
void read_epilogue(const Desc& desc, size_t channels, Data* data) {
  const octet_epilogue& e = desc.epilogue;
  data->lhs_zero_point = desc.lhs_zero_point;
  data->bias = copied(e.bias, channels);
  data->scales = copied(e.scales, e.scale_count);
  data->tflite = {copied(e.multipliers, e.multiplier_count), copied(e.shifts, e.multiplier_count)};
  data->dst_zero_point = e.dst_zero_point;
  data->activation = activation_of(e);
  // --peer float takes no scale of 0
  constexpr double kLeast = 0x1p-60;
  for (size_t i = 0; i < e.multiplier_count; ++i)
    data->scales.push_back((float)std::max(std::ldexp(e.multipliers[i], e.shifts[i] - 31), kLeast));
}

// OHWI, from HWIO where a filter has a single input channel.
Buffer read_filter(const octet_filter_desc& filter, size_t channels, size_t depth) {
  Buffer weights(channels * depth);
  const uint8_t* const from = (const uint8_t*)filter.data;
  if (filter.order == OCTET_OHWI) {
    std::memcpy(weights.as(), from, weights.size());
  } else {
    for (size_t k = 0; k < depth; ++k)
      for (size_t n = 0; n < channels; ++n) weights.as()[n * depth + k] = from[k * channels + n];
  }
  return weights;
}

ConvCase conv_case(const DescribedLayer& layer) {
  const ConvShape shape = parse_conv(layer.shape);
  const octet_conv2d_desc& d = layer.description.conv;
  const octet_filter_desc& filter = layer.description.filter;
  const size_t channels = shape.geometry.out_channels;
  ConvData data = {shape,
                   {d.lhs_type, d.rhs_type, d.dst_type},
                   Buffer(),
                   read_filter(filter, channels, shape.depth())};
  data.filter_zero_points = copied(filter.zero_points, filter.zero_point_count);
  read_epilogue(d, channels, &data);
  ConvCase conv = {shape, short_name(layer.name), 1};
  conv.own = std::make_shared<const ConvData>(std::move(data));
  return conv;
}

GemmCase gemm_case(const DescribedLayer& layer) {
  const GemmShape shape = parse_product(layer.shape, "").shape;
  const octet_gemm_desc& d = layer.description.gemm;
  const octet_rhs_desc& rhs = layer.description.rhs;
  GemmData data = {
      shape, {d.lhs_type, d.rhs_type, d.dst_type}, Buffer(), Buffer(shape.k * shape.n)};
  const uint8_t* const from = (const uint8_t*)rhs.data;  // n x k
  for (size_t n = 0; n < shape.n; ++n)
    for (size_t k = 0; k < shape.k; ++k) data.rhs.as()[k * shape.n + n] = from[n * shape.k + k];
  data.rhs_zero_points = copied(rhs.zero_points, rhs.zero_point_count);
  read_epilogue(d, shape.n, &data);
  return {shape, short_name(layer.name), 1, std::make_shared<const GemmData>(std::move(data))};
}

template <typename Data>
Data with_lhs(const Data& own, size_t bytes) {
  Data data = own;
  data.lhs = Buffer(bytes);
  fill_activations(&data.lhs, data.types.lhs, data.lhs_zero_point, bytes);
  return data;
}

}  // namespace

std::vector<CaseGroup> read_model(const std::string& path) {
  if (!is_network_file(path))
    throw Error(fmt::format(
        "'{}' has no operands of its own: --operands model takes a network.json with its data, "
        "which tools/models/describe.py --data makes",
        path));
  std::vector<CaseGroup> groups;
  const std::vector<std::string> left_out =
      each_layer(path, [&groups](const DescribedLayer& layer) {
        const octet::graph::ProductDescription& d = layer.description;
        const bool product = !d.is_convolution;
        const OperandTypes types =
            product ? OperandTypes{d.gemm.lhs_type, d.gemm.rhs_type, d.gemm.dst_type}
                    : OperandTypes{d.conv.lhs_type, d.conv.rhs_type, d.conv.dst_type};
        CaseGroup& group = group_of(&groups, layer.network, types.name(), product);
        if (product)
          group.products.push_back(gemm_case(layer));
        else
          group.convolutions.push_back(conv_case(layer));
      });
  for (const std::string& layer : left_out) fmt::print(stderr, "left out: {}: {}\n", path, layer);
  if (groups.empty())
    throw Error(fmt::format("{} has neither convolutions nor products of 8 bits", path));
  return groups;
}

std::vector<CaseGroup> parse_cases(const std::vector<std::string>& names, Likeness likeness) {
  if (likeness != Likeness::kModel) return parse_cases(names);
  std::vector<CaseGroup> groups;
  for (const std::string& name : names)
    for (CaseGroup& model : read_model(name)) groups.push_back(std::move(model));
  return groups;
}

ConvData data_of(const ConvCase& conv, const OperandTypes& types, const Operands& operands) {
  if (!conv.own) return plain_conv_data(conv.shape, types, operands);
  return with_lhs(*conv.own, conv.shape.in_pixels() * conv.shape.geometry.in_channels);
}

GemmData data_of(const GemmCase& gemm, const OperandTypes& types, const Operands& operands) {
  if (!gemm.own) return plain_data(gemm.shape, types, operands);
  return with_lhs(*gemm.own, gemm.shape.m * gemm.shape.k);
}

}  // namespace tool
