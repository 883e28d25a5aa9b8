// u8 x 2:4 sparse s8 -> s32 or 8 bits, VPDPBUSD on ymm, up to 4 rows x 16 columns.
//
//                      columns 0-7   8-15
//                     +------------+--------+     8 accumulators, 2 for values, 2 for places,
//   row i, 8 bytes    | acc[i][0]  |  [1]   |     1 for lhs, 1 shuffled: 14 registers of 16
//   broadcast         +------------+--------+
#include "kernels/x86/kernels.h"
#include "kernels/x86/sparse/sparse_vnni_256.h"

namespace octet {

const MicroKernel avxvnni_u8s8_sparse_4x16x16 = sparse_kernel<false>("avxvnni_u8s8_sparse_4x16x16");

}  // namespace octet
