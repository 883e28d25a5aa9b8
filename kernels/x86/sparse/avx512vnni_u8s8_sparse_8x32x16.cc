// u8 x 2:4 sparse s8 -> s32 or 8 bits, VPDPBUSD on zmm, up to 8 rows x 32 columns.
//
//                      columns 0-15   16-31
//                     +-------------+--------+    16 accumulators, 2 for values, 2 for places,
//   row i, 8 bytes    | acc[i][0]   |  [1]   |    1 for lhs, 1 shuffled: 22 registers of 32
//   broadcast         +-------------+--------+
//
// A sparse product takes a dot product and a shuffle. Where 512-bit shuffles have a port of their
// own (Zen), this kernel is up to 1.5 times as fast as the dense one; where they share a port with
// dot products (Intel), it is as fast, and reads 3/4 of the bytes.
#include <immintrin.h>

#include "kernels/x86/kernels.h"
#include "kernels/x86/sparse/sparse_vnni_512.h"

namespace octet {
namespace {

constexpr int kMr = 8;

}  // namespace

const MicroKernel avx512vnni_u8s8_sparse_8x32x16 = {
    .name = "avx512vnni_u8s8_sparse_8x32x16",
    .tier_id = TierId::kAvx512Vnni,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = 32,
    .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit,
    .rhs_layout = kSparseLayout,
    .lhs_kr = 16,
    .multiply = dispatch_sparse<false, kMr>,
};

}  // namespace octet
