// SPDX-License-Identifier: Apache-2.0
// u8 x 2:4 sparse s8 in plain C++, in both sparse formats: it defines the correct result.
#include "kernels/core/micro_kernel.h"
#include "kernels/core/sparse.h"
#include "kernels/generic/gather.h"
#include "kernels/generic/portable.h"
#include "kernels/scalar/kernels.h"

namespace octet {
namespace {

constexpr size_t kMr = 4;

// The step, of the eight of a line, of a column's value v (0..3) in that line; `places` is its
// byte.
size_t half_byte_place(uint8_t places, size_t line, size_t) { return places >> 4 * line & 7; }
size_t tight_place(uint8_t places, size_t line, size_t v) {
  return v / 2 * 4 + (places >> (line % 2 * 4 + line / 2 * 2) & 3);
}

// The lhs panel has mr lanes, whatever t.rows is, and depth in whole groups of kKr.
template <size_t kKr, size_t (*place_of)(uint8_t, size_t, size_t), bool places_first>
void multiply(const Tile& t) {
  constexpr size_t kLines = kKr / 8, kPlaces = places_first ? 0 : kLines * kSparseLine,
                   kValues = places_first ? kSparseLine : 0;
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
        for (size_t line = 0; line < kLines; ++line)
          for (size_t v = 0; v < 4; ++v) {
            const int32_t r = (int8_t)rhs[kValues + line * kSparseLine + v];
            const size_t place = place_of(rhs[kPlaces + v], line, v);
            acc += (uint32_t)(lhs[8 * line + place] * r);
          }
      }
      dst[j] = (int32_t)acc;
    }
  }
}

template <bool tight>
constexpr MicroKernel kernel(const char* name) {
  constexpr RhsLayout kLayout = tight ? kSparseTightLayout : kSparseLayout;
  return {
      .name = name,
      .tier_id = TierId::kScalar,
      .lhs_element_type = ElementType::kU8,
      .mr = kMr,
      .nr = 16,
      .flags = kAnyLhs,
      .rhs_layout = kLayout,
      .gather = gather_rows<uint8_t, kLayout.kr>,
      .lhs_lanes_step = kMr,
      .lhs_kr = kLayout.kr,
      .multiply = multiply < kLayout.kr,
      tight ? tight_place : half_byte_place,
      tight >,
  };
}

}  // namespace

const MicroKernel scalar_u8s8_sparse_4x16x16 = kernel<false>("scalar_u8s8_sparse_4x16x16");
const MicroKernel scalar_u8s8_sparse_4x16x32 = kernel<true>("scalar_u8s8_sparse_4x16x32");

}  // namespace octet
