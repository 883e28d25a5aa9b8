// SPDX-License-Identifier: Apache-2.0
// Sums the weights of each output channel.
#include "operators/conv/algorithms/algorithm.h"

namespace octet {

WeightSums FilterView::sum_run(size_t first, size_t stride, size_t count, int32_t zero) const {
  WeightSums sums = {};
  for_each_part({nullptr, 0, stride, 1, count, 0}, first, [&](const LaneView& v, size_t, size_t) {
    sums += sum_weights(v.data, v.depth_stride, v.depth, type(), zero);
  });
  return sums;
}

WeightSums FilterView::sum_channel(const ConvShape& s, size_t o) const {
  if (dense(s)) return sum_run(at(s, o, 0, 0, 0), 1, s.taps() * s.group_in(), zero_point(o));
  WeightSums sums = {};
  for (size_t ky = 0; ky < s.kernel_h; ++ky)
    for (size_t kx = 0; kx < s.kernel_w; ++kx) sums += sum_position(s, o, ky, kx, 0, s.group_in());
  return sums;
}

ZeroPointRange FilterView::zero_point_range() const {
  const int32_t shift = type_shift(type(), ElementType::kS8);
  const int32_t first = zero_point(0) + shift;
  ZeroPointRange range = {first, first};
  for (size_t i = 1; i < zero_point_count; ++i) {
    const int32_t zero = zero_point(i) + shift;
    if (zero < range.least) range.least = zero;
    if (zero > range.most) range.most = zero;
  }
  return range;
}

bool sum_filter(const ConvShape& shape, const FilterView& filter, const ColumnSums& sums) {
  bool has_int8_min = false;
  for (size_t o = 0; o < shape.out_channels; ++o)
    has_int8_min |= sums.store(o, filter.sum_channel(shape, o));
  return has_int8_min;
}

}  // namespace octet
