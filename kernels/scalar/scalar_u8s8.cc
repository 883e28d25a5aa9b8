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

}  // namespace

const MicroKernel scalar_u8s8_4x4x4 = {
    .name = "scalar_u8s8_4x4x4",
    .isa = Isa::kScalar,
    .lhs_element_type = ElementType::kU8,
    .mr = 4,
    .nr = 4,
    .flags = kAnyLhs,
    .rhs_layout = kScalarLayout,
    .gather = gather_rows<uint8_t, 4>,
    .lhs_lanes_step = 4,
    .lhs_kr = 4,
    .multiply = multiply<4, 4>,
};

const MicroKernel scalar_u8s8_3x5x2 = {
    .name = "scalar_u8s8_3x5x2",
    .isa = Isa::kScalar,
    .lhs_element_type = ElementType::kU8,
    .mr = 3,
    .nr = 5,
    .flags = kAnyLhs | kTestsOnly,
    .rhs_layout = kScalarTestLayout,
    .gather = gather_rows<uint8_t, 2>,
    .lhs_lanes_step = 3,
    .lhs_kr = 2,
    .multiply = multiply<3, 2>,
};

}  // namespace octet
