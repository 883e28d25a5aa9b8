// SPDX-License-Identifier: Apache-2.0
// Draws the operands of a product.
#include "bench/problems/gemm_data.h"

#include <fmt/format.h>

#include <charconv>

namespace tool {
namespace {

GemmData room(const GemmShape& shape, const OperandTypes& types) {
  const size_t lhs_bytes = types.lhs == OCTET_S16 ? 2 : 1;
  return {shape, types, Buffer(shape.m * shape.k * lhs_bytes), Buffer(shape.k * shape.n)};
}

void fill_both(GemmData* data, Fill how) {
  const uint64_t seed = data->shape.m + data->shape.k;
  if (data->types.lhs == OCTET_S16)
    fill_s16(&data->lhs, how, seed);
  else
    fill(&data->lhs, data->types.lhs, how, seed);
  fill(&data->rhs, data->types.rhs, how, data->shape.n + 2 * data->shape.k);
}

}  // namespace

std::string GemmShape::name() const { return fmt::format("{}x{}x{}", m, n, k); }

bool parse_triple(const std::string& text, size_t (&numbers)[3]) {
  constexpr size_t kLargest = 999999999;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (size_t& number : numbers) {
    if (&number != numbers && (at == end || *at++ != 'x')) return false;
    const auto [rest, problem] = std::from_chars(at, end, number);
    if (problem != std::errc() || number == 0 || number > kLargest) return false;
    at = rest;
  }
  return at == end;
}

int32_t GemmData::lhs_at(size_t row, size_t depth) const {
  if (types.lhs == OCTET_S16) return lhs.as<int16_t>()[row * shape.k + depth];
  return byte_at(lhs, types.lhs, row * shape.k + depth) - lhs_zero_point;
}

int32_t GemmData::rhs_at(size_t depth, size_t column) const {
  return byte_at(rhs, types.rhs, depth * shape.n + column) - of_column(rhs_zero_points, column);
}

void GemmData::bring_weights(std::optional<octet_rhs_order> order) {
  run_time = order;
  if (order != OCTET_NK) return;
  columns = Buffer(shape.n * shape.k);
  for (size_t n = 0; n < shape.n; ++n)
    for (size_t k = 0; k < shape.k; ++k) columns.as()[n * shape.k + k] = rhs.as()[k * shape.n + n];
}

GemmData plain_data(const GemmShape& shape, const OperandTypes& types, const Operands& operands) {
  GemmData data = room(shape, types);
  data.lhs_zero_point = checked_zero_point("--lhs-zero-point", operands.lhs_zero_point, types.lhs);
  const std::optional<int32_t> rhs_zero_point = operands.zero_point_of(types.rhs);
  data.rhs_zero_points = zero_points(rhs_zero_point, types.rhs, shape.n);
  double product = kUniformProduct;
  const int32_t centre = rhs_zero_point.value_or(0);
  const Channels columns = {shape.n, shape.k, 1, shape.n};
  if (operands.likeness == Likeness::kReal && types.lhs != OCTET_S16) {
    fill_activations(&data.lhs, types.lhs, data.lhs_zero_point, shape.m + shape.k);
    fill_weights(&data.rhs, types.rhs, columns, centre, shape.n + 2 * shape.k);
    product =
        typical_product(data.lhs, types.lhs, data.lhs_zero_point, data.rhs, types.rhs, centre);
  } else {
    fill_both(&data, Fill::kRandom);
  }
  if (operands.sparse) make_sparse(&data.rhs, columns, shape.k, centre, shape.n + 3 * shape.k);
  data.bring_weights(operands.run_time);
  data.scale_block = operands.scale_block;
  if (types.dst == OCTET_S32) return data;
  data.scales = spread_scales(shape.n, shape.k, product);
  if (!data.scale_block) data.bias = spread_bias(shape.n, shape.k, product);
  if (operands.likeness == Likeness::kReal && type_bytes(types.dst) == 1)
    make_dead(columns, centre, &data.rhs, &data.bias, &data.scales);
  data.tflite = tflite_scales(data.scales, operands.requant);
  data.after = draw_after(operands, types.dst, shape.m * shape.n);
  return data;
}

GemmData full_data(const GemmShape& shape, const OperandTypes& types, Fill how) {
  GemmData data = room(shape, types);
  fill_both(&data, how);
  if (types.lhs == OCTET_S16) {  // has no zero points
    data.scales = spread_scales(shape.n, shape.k);
    data.bias = spread_bias(shape.n, shape.k);
    return data;
  }
  if (types.dst != OCTET_S32) data.scales = spread_scales(shape.n, shape.k);
  Random random(shape.m + shape.n + shape.k);
  data.bias = spread_bias(shape.n, shape.k);
  data.lhs_zero_point = random.zero_point(types.lhs);
  for (size_t n = 0; n < shape.n; ++n) data.rhs_zero_points.push_back(random.zero_point(types.rhs));
  if (types.dst == OCTET_S8 || types.dst == OCTET_U8)
    data.dst_zero_point = random.zero_point(types.dst);
  return data;
}

}  // namespace tool
