// u8 x 2:4 sparse s8 (tight) -> s32 or 8 bits, VPDPBUSD on ymm, up to 4 rows x 16 columns.
//
//                      columns 0-7   8-15
//                     +------------+--------+     8 accumulators, 2 for values, 2 for places,
//   row i, 8 bytes    | acc[i][0]  |  [1]   |     2 constants to widen places, 1 for lhs,
//   broadcast         +------------+--------+     1 shuffled: 16 registers of 16
//
// See avx512vnni_u8s8_sparse_4x32x32.cc.
#include "kernels/x86/kernels.h"
#include "kernels/x86/sparse/sparse_vnni_256.h"

namespace octet {

const MicroKernel avxvnni_u8s8_sparse_4x16x32 = sparse_kernel<true>("avxvnni_u8s8_sparse_4x16x32");

}  // namespace octet
