// u8 x s8 in plain C++: the definition of right, and the last resort.
//
// One template for every tile size, because nothing here depends on it but the loop bounds. 3x5x2
// is odd on purpose: only the tests force it, to catch code that assumes powers of two.
#include "kernels/core/micro_kernel.h"
#include "kernels/ref/kernels.h"
#include "kernels/simd/gather.h"
#include "kernels/simd/portable.h"

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

const MicroKernel scalar_u8s8_4x4x4 = {"scalar_u8s8_4x4x4",
                                       Isa::kScalar,
                                       Domain::kU8,
                                       4,
                                       4,
                                       0,
                                       kAnyLhs,
                                       {4, 4, 4, Domain::kS8},
                                       gather_rows<uint8_t, 4>,
                                       4,
                                       4,
                                       1,
                                       multiply<4, 4>,
                                       portable_finish,
                                       &portable_row_ops,
                                       &portable_winograd};

const MicroKernel scalar_u8s8_3x5x2 = {"scalar_u8s8_3x5x2",
                                       Isa::kScalar,
                                       Domain::kU8,
                                       3,
                                       5,
                                       0,
                                       kAnyLhs | kTestsOnly,
                                       {5, 5, 2, Domain::kS8},
                                       gather_rows<uint8_t, 2>,
                                       3,
                                       2,
                                       1,
                                       multiply<3, 2>,
                                       portable_finish,
                                       &portable_row_ops,
                                       &portable_winograd};

}  // namespace octet
