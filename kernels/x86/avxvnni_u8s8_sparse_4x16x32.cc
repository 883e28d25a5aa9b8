// u8 x 2:4 sparse s8 (tight) -> s32 or 8 bits, VPDPBUSD on ymm, up to 4 rows x 16 columns.
//
//                      columns 0-7   8-15
//                     +------------+--------+     8 accumulators, 2 for values, 2 for places,
//   row i, 8 bytes    | acc[i][0]  |  [1]   |     2 constants that make them so, 1 for lhs,
//   broadcast         +------------+--------+     1 shuffled: 16 registers of 16
//
// See avx512vnni_u8s8_sparse_4x32x32.cc
#include <immintrin.h>

#include "kernels/x86/kernels.h"
#include "kernels/x86/leave_ymm.h"
#include "kernels/x86/sparse_vnni_256.h"

namespace octet {
namespace {

constexpr int kMr = 4;

template <int rows>
void multiply(const Tile& t) {
  constexpr int sets = rows == 3 ? 1 : sets_of(rows, 2);  // 12 accumulators are too many beside
  __m256i acc[sets][rows][2];
  unroll<rows>([&](auto i) OCTET_INLINE {
    // See avx512vnni_u8s8_6x64x4.cc
    _mm_prefetch((const char*)t.dst + i * t.dst_stride, _MM_HINT_T0);
    unroll<2>([&](auto v) OCTET_INLINE { acc[0][i][v] = init_of(t, i, v); });
  });
  add_row_init(t, acc[0]);
  clear_other_sets<Ymm>(acc);
  add_sparse_products<Ymm, true>(t, acc);
  if (t.scale && !t.narrow->tflite_apart) return store_narrowed(t, acc[0]);
  leave_sums(t, acc[0]);
}

constexpr MultiplyFn kByRows[kMr] = {multiply<1>, multiply<2>, multiply<3>, multiply<4>};

void dispatch(const Tile& t) { kByRows[t.rows - 1](t); }

}  // namespace

const MicroKernel avxvnni_u8s8_sparse_4x16x32 = {
    .name = "avxvnni_u8s8_sparse_4x16x32",
    .isa = Isa::kAvxVnni,
    .lhs_domain = Domain::kU8,
    .mr = kMr,
    .nr = 16,
    .flags = kAnyLhs | kNarrows | kNarrowsTflite | kRowInit,
    .rhs_layout = kSparseTightLayout,
    .lhs_kr = 32,
    .multiply = dispatch,
};

}  // namespace octet
