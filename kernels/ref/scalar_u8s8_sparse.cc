// u8 x 2:4 sparse s8 in plain C++: the definition of right.
#include "kernels/core/micro_kernel.h"
#include "kernels/core/sparse.h"
#include "kernels/ref/kernels.h"
#include "kernels/simd/gather.h"
#include "kernels/simd/portable.h"

namespace octet {
namespace {

constexpr size_t kMr = 4, kKr = kSparseLayout.kr;

// The lhs panel has mr lanes, whatever t.rows is, and depth in whole groups.
void multiply(const Tile& t) {
  const uint8_t* const panel = (const uint8_t*)t.lhs;
  const size_t groups = divide_up(t.depth, kKr);
  for (size_t i = 0; i < t.rows; ++i) {
    int32_t* dst = (int32_t*)((uint8_t*)t.dst + i * t.dst_stride);
    for (size_t j = 0; j < t.cols; ++j) {
      uint32_t acc = (uint32_t)t.init[i * t.init_stride + j];
      for (size_t g = 0; g < groups; ++g) {
        const uint8_t *const lhs = panel + (g * kMr + i) * kKr, *const rhs = t.rhs +
                                                                             g * t.rhs_stride +
                                                                             4 * j;
        for (size_t half = 0; half < 2; ++half)
          for (size_t v = 0; v < 4; ++v) {
            const int32_t r = (int8_t)rhs[half * kSparseLine + v];
            const size_t place = rhs[2 * kSparseLine + v] >> 4 * half & 7;
            acc += (uint32_t)(lhs[8 * half + place] * r);
          }
      }
      dst[j] = (int32_t)acc;
    }
  }
}

}  // namespace

const MicroKernel scalar_u8s8_sparse_4x16x16 = {
    .name = "scalar_u8s8_sparse_4x16x16",
    .isa = Isa::kScalar,
    .lhs_domain = Domain::kU8,
    .mr = kMr,
    .nr = 16,
    .flags = kAnyLhs,
    .rhs_layout = kSparseLayout,
    .gather = gather_rows<uint8_t, kKr>,
    .lhs_lanes_step = kMr,
    .lhs_kr = kKr,
    .multiply = multiply,
};

}  // namespace octet
