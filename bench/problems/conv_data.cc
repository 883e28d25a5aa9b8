// SPDX-License-Identifier: Apache-2.0
// Draws the operands of a convolution.
#include "bench/problems/conv_data.h"

namespace tool {
namespace {

ConvData room(const ConvShape& shape, const OperandTypes& types) {
  return {shape, types,
          Buffer(shape.in_pixels() * shape.geometry.in_channels * type_bytes(types.lhs)),
          Buffer(shape.geometry.out_channels * shape.depth())};
}

void fill_both(ConvData* data, Fill how) {
  const size_t channels = data->shape.geometry.out_channels, depth = data->shape.depth();
  const uint64_t seed = data->shape.in_pixels() + depth;
  if (data->types.lhs == OCTET_S16)
    fill_s16(&data->lhs, how, seed);
  else
    fill(&data->lhs, data->types.lhs, how, seed);
  fill(&data->filter, data->types.rhs, how, channels + 2 * depth);
}

void set_epilogue(ConvData* data, double product) {
  const size_t channels = data->shape.geometry.out_channels, depth = data->shape.depth();
  data->bias = spread_bias(channels, depth, product);
  if (data->types.dst == OCTET_S32) return;
  data->scales = spread_scales(channels, depth, product);
  data->activation.kind = OCTET_ACTIVATION_RELU;
}

}  // namespace

ConvData plain_conv_data(const ConvShape& shape, const OperandTypes& types,
                         const Operands& operands) {
  const size_t channels = shape.geometry.out_channels, depth = shape.depth();
  ConvData data = room(shape, types);
  data.lhs_zero_point = checked_zero_point("--lhs-zero-point", operands.lhs_zero_point, types.lhs);
  const std::optional<int32_t> rhs_zero_point = operands.zero_point_of(types.rhs);
  data.filter_zero_points = zero_points(rhs_zero_point, types.rhs, channels);
  double product = kUniformProduct;
  const int32_t centre = rhs_zero_point.value_or(0);
  const Channels filters = {channels, depth, depth, 1};
  if (operands.likeness == Likeness::kReal && types.lhs != OCTET_S16) {
    fill_activations(&data.lhs, types.lhs, data.lhs_zero_point, shape.in_pixels() + depth);
    fill_weights(&data.filter, types.rhs, filters, centre, channels + 2 * depth);
    product =
        typical_product(data.lhs, types.lhs, data.lhs_zero_point, data.filter, types.rhs, centre);
  } else {
    fill_both(&data, Fill::kRandom);
  }
  if (operands.sparse)
    make_sparse(&data.filter, filters, shape.geometry.in_channels / shape.geometry.groups, centre,
                channels + 3 * depth);
  set_epilogue(&data, product);
  if (operands.likeness == Likeness::kReal && type_bytes(types.dst) == 1)
    make_dead(filters, centre, &data.filter, &data.bias, &data.scales);
  data.tflite = tflite_scales(data.scales, operands.requant);
  data.after = draw_after(operands, types.dst, data.dst_elements());
  return data;
}

ConvData full_conv_data(const ConvShape& shape, const OperandTypes& types, Fill how,
                        bool symmetric) {
  ConvData data = room(shape, types);
  fill_both(&data, how);
  set_epilogue(&data, kUniformProduct);
  Random random(shape.in_pixels() + data.filter.size());
  if (types.lhs == OCTET_S16)  // has no zero point
    data.tflite = tflite_scales(data.scales, Requant::kTflite);
  else
    data.lhs_zero_point = random.zero_point(types.lhs);
  if (types.dst == OCTET_S8 || types.dst == OCTET_U8)
    data.dst_zero_point = random.zero_point(types.dst);
  if (!symmetric || types.rhs == OCTET_U8)
    for (size_t n = 0; n < shape.geometry.out_channels; ++n)
      data.filter_zero_points.push_back(symmetric ? 128 : random.zero_point(types.rhs));
  return data;
}

}  // namespace tool
