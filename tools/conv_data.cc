#include "conv_data.h"

namespace tool {
namespace {

ConvData operands(const ConvShape& shape, const OperandTypes& types, Fill how) {
  const size_t channels = shape.geometry.out_channels, depth = shape.depth();
  ConvData data = {shape, types, Buffer(shape.in_pixels() * shape.geometry.in_channels),
                   Buffer(channels * depth)};
  fill(&data.lhs, types.lhs, how, shape.in_pixels() + depth);
  fill(&data.filter, types.rhs, how, channels + 2 * depth);
  data.bias = spread_bias(channels, depth);
  if (types.dst == OCTET_S32) return data;
  data.scales = spread_scales(channels, depth);
  data.relu = true;
  return data;
}

}  // namespace

ConvData plain_conv_data(const ConvShape& shape, const OperandTypes& types, Requant requant,
                         std::optional<int32_t> rhs_zero_point) {
  ConvData data = operands(shape, types, Fill::kRandom);
  data.tflite = tflite_scales(data.scales, requant);
  data.filter_zero_points = zero_points(rhs_zero_point, types.rhs, shape.geometry.out_channels);
  return data;
}

ConvData full_conv_data(const ConvShape& shape, const OperandTypes& types, Fill how,
                        bool symmetric) {
  ConvData data = operands(shape, types, how);
  Random random(shape.in_pixels() + data.filter.size());
  data.lhs_zero_point = random.zero_point(types.lhs);
  if (types.dst == OCTET_S8 || types.dst == OCTET_U8)
    data.dst_zero_point = random.zero_point(types.dst);
  if (!symmetric || types.rhs == OCTET_U8)
    for (size_t n = 0; n < shape.geometry.out_channels; ++n)
      data.filter_zero_points.push_back(symmetric ? 128 : random.zero_point(types.rhs));
  return data;
}

}  // namespace tool
