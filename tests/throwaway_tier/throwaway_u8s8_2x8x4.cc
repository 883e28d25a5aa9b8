// A kernel in plain C++ of a tier that exists in a test only, with a tile that no other has.
#include "kernels/core/micro_kernel.h"
#include "kernels/generic/gather.h"
#include "kernels/scalar/kernels.h"

namespace octet {
namespace {

constexpr size_t kMr = 2, kKr = 4;

void multiply(const Tile& t) {
  for (size_t i = 0; i < t.rows; ++i)
    for (size_t j = 0; j < t.cols; ++j) {
      uint32_t acc = (uint32_t)t.init[i * t.init_stride + j];
      for (size_t group = 0; group * kKr < t.depth; ++group) {
        const uint8_t* lhs = (const uint8_t*)t.lhs + (group * kMr + i) * kKr;
        const int8_t* rhs = (const int8_t*)t.rhs + group * t.rhs_stride + j * kKr;
        for (size_t k = 0; k < kKr; ++k) acc += (uint32_t)(lhs[k] * rhs[k]);
      }
      ((int32_t*)((uint8_t*)t.dst + i * t.dst_stride))[j] = (int32_t)acc;
    }
}

}  // namespace

const MicroKernel throwaway_u8s8_2x8x4 = {
    .name = "throwaway_u8s8_2x8x4",
    .isa = Isa::kThrowaway,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = 8,
    .flags = kAnyLhs,
    .rhs_layout = kThrowawayLayout,
    .gather = gather_rows<uint8_t, kKr>,
    .lhs_lanes_step = kMr,
    .lhs_kr = kKr,
    .multiply = multiply,
};

}  // namespace octet
