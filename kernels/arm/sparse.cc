// SPDX-License-Identifier: Apache-2.0
// Gathers lhs rows for the sparse Arm kernels.
#include "kernels/arm/shared/sparse.h"

#include "kernels/arm/shared/copy_bytes.h"

namespace octet {

void gather_tables(const Rows& r, size_t lanes, void* panel) {
  const size_t whole = r.depth / 16 * 16, rest = r.depth % 16;
  const uint8x16_t flip = vdupq_n_u8(r.flip);
  for (size_t lane = 0; lane < lanes; ++lane) {
    const uint8_t* const from = r.row(lane);
    uint8_t* to = (uint8_t*)panel + 8 * lane;
    const auto store = [&](uint8x16_t bytes) OCTET_INLINE {
      bytes = veorq_u8(bytes, flip);
      vst1_u8(to, vget_low_u8(bytes));
      vst1_u8(to + 8 * lanes, vget_high_u8(bytes));
      to += 16 * lanes;
    };
    for (size_t k = 0; k < whole; k += 16) store(vld1q_u8(from + k));
    if (rest) {
      const uint64_t low = rest < 8 ? load_tail(from + whole, rest) : load8(from + whole),
                     high = rest > 8 ? load_tail(from + whole + 8, rest - 8) : 0;
      store(vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high))));
      // 0 beyond the depth, with a flip, too
      for (size_t k = rest; k < 16; ++k)
        to[-(ptrdiff_t)(16 * lanes) + (ptrdiff_t)(k / 8 * 8 * lanes + k % 8)] = 0;
    }
  }
}

}  // namespace octet
