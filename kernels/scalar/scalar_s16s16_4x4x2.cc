// SPDX-License-Identifier: Apache-2.0
// s16 x s16 -> s32 in plain C++, 4 rows x 4 columns.
#include "kernels/core/micro_kernel.h"
#include "kernels/generic/portable.h"
#include "kernels/scalar/kernels.h"

namespace octet {
namespace {

void multiply(const Tile& t) {
  for (size_t i = 0; i < t.rows; ++i) {
    const int16_t* const lhs = (const int16_t*)((const uint8_t*)t.lhs + i * t.lhs_stride);
    int32_t* const dst = (int32_t*)((uint8_t*)t.dst + i * t.dst_stride);
    for (size_t j = 0; j < t.cols; ++j) {
      uint32_t acc = (uint32_t)t.init[i * t.init_stride + j];
      for (size_t k = 0; k < t.depth; ++k)
        acc += (uint32_t)(lhs[k] * ((const int16_t*)(t.rhs + k / 2 * t.rhs_stride))[2 * j + k % 2]);
      dst[j] = (int32_t)acc;
    }
  }
}

}  // namespace

const MicroKernel scalar_s16s16_4x4x2 = {
    .name = "scalar_s16s16_4x4x2",
    .tier_id = TierId::kScalar,
    .lhs_element_type = ElementType::kS16,
    .mr = 4,
    .nr = 4,
    .rhs_layout = kScalarInt16Layout,
    .lhs_kr = 2,
    .lhs_element_bytes = 2,
    .multiply = multiply,
};

}  // namespace octet
