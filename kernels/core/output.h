// SPDX-License-Identifier: Apache-2.0
// Describes the output of a product and the residual that is added to it: rows of a matrix, or
// pixels.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

struct Output {
  uint8_t* dst;
  size_t stride;            // bytes from one row to the next
  const uint8_t* residual;  // 8 bits each; null = none
  size_t residual_stride;   // bytes

  // The output whose row i is this one's row + i * step.
  Output from(size_t row, size_t step = 1) const {
    return {dst + row * stride, stride * step,
            residual ? residual + row * residual_stride : nullptr, residual_stride * step};
  }
  // The output from column n on; bytes: size of one element.
  Output column(size_t n, size_t bytes) const {
    return {dst + n * bytes, stride, residual ? residual + n : nullptr, residual_stride};
  }
};

}  // namespace octet
