// u8 x 2:4 sparse s8 (tight) -> s32 or 8 bits, VPDPBUSD on zmm, up to 4 rows x 32 columns.
//
//                      columns 0-15   16-31
//                     +-------------+--------+    8 accumulators or more (few rows have several
//   row i, 8 bytes    | acc[i][0]   |  [1]   |    sets), 2 for values, 2 for places, 2 constants,
//   broadcast         +-------------+--------+    1 for lhs, 1 shuffled: 16 registers of 32
//
// It serves few rows, where loading weights takes longest: it reads 5/8 of the dense bytes.
// Widening the places takes 3 instructions for 32 steps of a vector of columns, for any number of
// rows.
#include <immintrin.h>

#include "kernels/x86/kernels.h"
#include "kernels/x86/sparse/sparse_vnni_512.h"

namespace octet {
namespace {

constexpr int kMr = 4;

}  // namespace

const MicroKernel avx512vnni_u8s8_sparse_4x32x32 = {
    .name = "avx512vnni_u8s8_sparse_4x32x32",
    .tier_id = TierId::kAvx512Vnni,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = 32,
    .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit,
    .rhs_layout = kSparseTightLayout,
    .lhs_kr = 32,
    .multiply = dispatch_sparse<true, kMr>,
};

}  // namespace octet
