// SPDX-License-Identifier: Apache-2.0
// Sums of a column's weights, computed while packing reads them.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/packed_layout.h"

namespace octet {

struct WeightSums {
  // The sum of the positive and the sum of the negative w - zero_point
  int32_t positive, negative;
  bool has_int8_min;  // a weight is -128 in s8, whatever its zero point

  int32_t total() const { return positive + negative; }
  WeightSums& operator+=(const WeightSums& o) {
    positive += o.positive;
    negative += o.negative;
    has_int8_min |= o.has_int8_min;
    return *this;
  }
};

// Makes WeightSums from the sum of w - zero_point (total) and the sum of its magnitudes (distance).
inline WeightSums sums_of(uint32_t total, uint32_t distance, bool has_int8_min) {
  return {(int32_t)((distance + total) / 2), -(int32_t)((distance - total) / 2), has_int8_min};
}

// Of `count` weights that are `stride` apart.
WeightSums sum_weights(const uint8_t* data, size_t stride, size_t count, ElementType type,
                       int32_t zero_point);

}  // namespace octet
