// Where results go, and what is added to them on the way: rows of a matrix or pixels.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

struct Output {
  uint8_t* dst;
  size_t stride;            // bytes from one row to the next
  const uint8_t* residual;  // 8 bits each; null = none
  size_t residual_stride;   // bytes

  // Whose row 0 is this one's `row`, and row 1 the one that is `step` further.
  Output from(size_t row, size_t step = 1) const {
    return {dst + row * stride, stride * step,
            residual ? residual + row * residual_stride : nullptr, residual_stride * step};
  }
  // bytes: of one output.
  Output column(size_t n, size_t bytes) const {
    return {dst + n * bytes, stride, residual ? residual + n : nullptr, residual_stride};
  }
};

}  // namespace octet
