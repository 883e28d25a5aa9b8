// SPDX-License-Identifier: Apache-2.0
// u8 x s8 for CPUs without a kernel of their own: 4 rows x 16 columns, whose sums stay in
// registers, four steps at a time (kernels/scalar/lanes.h).
//
//              four panels of 4 columns, a group of each: 4 steps
//              w(0)   w(1)   w(2)   w(3)
//     l(0)      .      .      .      .
//     ...                                     sums: of 4 columns each
//     l(3)      .      .      .      .
#include "kernels/core/micro_kernel.h"
#include "kernels/generic/gather.h"
#include "kernels/generic/portable.h"
#include "kernels/scalar/kernels.h"
#include "kernels/scalar/lanes.h"

namespace octet {
namespace {

constexpr int kMr = 4;
constexpr size_t kNr = 16;
constexpr size_t kGroupsAtMost = (1 << 15) / kSteps;  // more would mix the sums of two rows

// Some columns of a tile: the first call starts from the tile's init, later calls from dst.
struct Part {
  const uint8_t *lhs, *rhs;
  size_t groups;
  const int32_t* init;
  size_t init_stride;  // bytes
  int32_t* dst;
  size_t rows, cols;
};

template <int rows, int panels>
OCTET_INLINE inline void multiply_part(const Tile& t, const Part& part) {
  Sums<rows> sums[panels];
  unroll<panels>([&](auto p) OCTET_INLINE { clear(&sums[p]); });
  const uint8_t *lhs = part.lhs, *rhs = part.rhs;
  const size_t group_stride = t.rhs_stride, panel_stride = t.rhs_panel_stride;
  OCTET_NO_UNROLL
  for (size_t g = part.groups; g > 0; --g, lhs += kMr * kSteps, rhs += group_stride)
    add_group(lhs, rhs, panel_stride, sums);
  uint32_t out[panels][rows][kColumns];
  unroll<panels>([&](auto p) OCTET_INLINE { store(sums[p], out[p]); });
  for (size_t i = 0; i < part.rows; ++i) {
    const int32_t* const init = (const int32_t*)((const uint8_t*)part.init + i * part.init_stride);
    int32_t* const dst = (int32_t*)((uint8_t*)part.dst + i * t.dst_stride);
    for (size_t j = 0; j < part.cols; ++j)
      dst[j] = (int32_t)((uint32_t)init[j] + out[j / kColumns][i][j % kColumns]);
  }
}

template <int rows>
void multiply_rows(const Tile& t) {
  constexpr size_t kAtOnce = kPanels * kColumns;
  const size_t groups = divide_up(t.depth, kSteps);
  for (size_t first = 0; first < groups; first += kGroupsAtMost) {
    for (size_t j = 0; j < t.cols;) {
      Part part = {(const uint8_t*)t.lhs + first * kMr * kSteps,
                   t.rhs + j / kColumns * t.rhs_panel_stride + first * t.rhs_stride,
                   smaller(groups - first, kGroupsAtMost),
                   first ? (const int32_t*)t.dst + j : t.init + j,
                   first ? t.dst_stride : t.init_stride * sizeof(int32_t),
                   (int32_t*)t.dst + j,
                   t.rows,
                   smaller(t.cols - j, kAtOnce)};
      if (part.cols > kAtOnce - kColumns) {
        multiply_part<rows, kPanels>(t, part);
        j += kAtOnce;
      } else {
        part.cols = smaller(part.cols, kColumns);
        multiply_part<rows, 1>(t, part);
        j += kColumns;
      }
    }
  }
}

// The lhs panel has four lanes, whatever t.rows is.
void multiply(const Tile& t) {
  if (t.rows == 1) return multiply_rows<1>(t);
  t.rows <= kRowsOfSum ? multiply_rows<kRowsOfSum>(t) : multiply_rows<kMr>(t);
}

}  // namespace

const MicroKernel scalar_u8s8_4x16x4 = {
    .name = "scalar_u8s8_4x16x4",
    .tier_id = TierId::kScalar,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = kNr,
    .flags = kAnyLhs | kOptional,
    .rhs_layout = kScalarLayout,
    .gather = gather_rows<uint8_t, kSteps>,
    .lhs_lanes_step = kMr,
    .lhs_kr = kSteps,
    .multiply = multiply,
};

}  // namespace octet
