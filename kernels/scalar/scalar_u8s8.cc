// SPDX-License-Identifier: Apache-2.0
// u8 x s8 in plain C++: it defines the correct result and runs where no other kernel does.
//
// One template serves every tile size, because only the loop bounds depend on it. Tests force 3x5x2
// to catch code that assumes powers of two.
#include "kernels/core/micro_kernel.h"
#include "kernels/generic/gather.h"
#include "kernels/generic/portable.h"
#include "kernels/scalar/kernels.h"

namespace octet {
namespace {

// The lhs panel has mr lanes, whatever t.rows is.
template <size_t mr, size_t kr>
void multiply(const Tile& t) {
  const uint8_t* lhs = (const uint8_t*)t.lhs;
  for (size_t i = 0; i < t.rows; ++i) {
    int32_t* dst = (int32_t*)((uint8_t*)t.dst + i * t.dst_stride);
    for (size_t j = 0; j < t.cols; ++j) {
      uint32_t acc = (uint32_t)t.init[i * t.init_stride + j];
      for (size_t k = 0; k < t.depth; ++k) {
        const int32_t l = lhs[k / kr * mr * kr + i * kr + k % kr];
        const int32_t r = (int8_t)t.rhs[k / kr * t.rhs_stride + j * kr + k % kr];
        acc += (uint32_t)(l * r);
      }
      dst[j] = (int32_t)acc;
    }
  }
}

template <size_t mr, size_t nr, size_t kr>
constexpr MicroKernel kernel(const char* name, uint16_t flags, const RhsLayout& layout) {
  return {
      .name = name,
      .tier_id = TierId::kScalar,
      .lhs_element_type = ElementType::kU8,
      .mr = mr,
      .nr = nr,
      .flags = flags,
      .rhs_layout = layout,
      .gather = gather_rows<uint8_t, kr>,
      .lhs_lanes_step = mr,
      .lhs_kr = kr,
      .multiply = multiply<mr, kr>,
  };
}

}  // namespace

const MicroKernel scalar_u8s8_4x4x4 = kernel<4, 4, 4>("scalar_u8s8_4x4x4", kAnyLhs, kScalarLayout);
const MicroKernel scalar_u8s8_3x5x2 =
    kernel<3, 5, 2>("scalar_u8s8_3x5x2", kAnyLhs | kTestsOnly, kScalarTestLayout);

}  // namespace octet
