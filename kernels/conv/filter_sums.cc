#include "kernels/conv/conv.h"

namespace octet {

WeightSums FilterView::sum_channel(const ConvShape& s, size_t o) const {
  if (dense(s))
    return sum_weights(at(s, o, 0, 0, 0), 1, s.taps() * s.group_in(), is_u8, zero_point(o));
  WeightSums sums = {};
  for (size_t ky = 0; ky < s.kernel_h; ++ky)
    for (size_t kx = 0; kx < s.kernel_w; ++kx) sums += sum_position(s, o, ky, kx, 0, s.group_in());
  return sums;
}

bool sum_filter(const ConvShape& shape, const FilterView& filter, const ColumnSums& sums) {
  bool has_least = false;
  for (size_t o = 0; o < shape.out_channels; ++o)
    has_least |= sums.store(o, filter.sum_channel(shape, o));
  return has_least;
}

}  // namespace octet
