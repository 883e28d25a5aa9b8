// Sums the weights of each output channel.
#include "operators/conv/algorithms/algorithm.h"

namespace octet {

WeightSums FilterView::sum_channel(const ConvShape& s, size_t o) const {
  if (dense(s))
    return sum_weights(at(s, o, 0, 0, 0), 1, s.taps() * s.group_in(), type, zero_point(o));
  WeightSums sums = {};
  for (size_t ky = 0; ky < s.kernel_h; ++ky)
    for (size_t kx = 0; kx < s.kernel_w; ++kx) sums += sum_position(s, o, ky, kx, 0, s.group_in());
  return sums;
}

ZeroPointRange FilterView::zero_point_range() const {
  const int32_t shift = type_shift(type, ElementType::kS8);
  const int32_t first = (zero_points ? zero_points[0] : 0) + shift;
  ZeroPointRange range = {first, first};
  for (size_t i = 1; i < zero_point_count; ++i) {
    const int32_t zero = zero_points[i] + shift;
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
