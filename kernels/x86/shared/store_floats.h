// SPDX-License-Identifier: Apache-2.0
// Stores accumulators from registers as f32: one text for ymm and zmm registers.
#pragma once

#include "kernels/core/micro_kernel.h"
#include "kernels/x86/shared/by_rows.h"
#include "kernels/x86/shared/epilogue_rows.h"

namespace octet {
namespace {

// Stores one vector of columns after the other. Values are copied first: as far as compilers know,
// stores change the tile.
template <int most, int vectors, typename Rows>
OCTET_INLINE inline void store_floats(const Tile& t, Rows rows,
                                      const EpilogueVector (&acc)[most][vectors]) {
  const Requantization& r = *t.requantization;
  const EpilogueFloats lo = all(r.lo_f32), hi = all(r.hi_f32);
  const bool clamps = r.clamps;
  const ptrdiff_t apart = r.bias_apart;
  const size_t cols = t.cols, stride = t.dst_stride;
  const float *const scales = t.scale, *const row_scale = t.row_scale;
  uint8_t* const first = (uint8_t*)t.dst;
  unroll<vectors>([&](auto v) OCTET_INLINE {
    constexpr size_t column = v.value * kEpilogueLanes;
    if (column >= cols) return;
    const EpilogueFloats scale = as_floats(epilogue_vector(scales + column)),
                         bias = apart ? as_floats(epilogue_vector(scales + column + apart))
                                      : all(-0.0f);  // changes no float
    uint8_t* dst = first + column * sizeof(float);
    for_rows<most>(rows, [&](auto i) OCTET_INLINE {
      const EpilogueFloats by = row_scale ? all(row_scale[i]) * scale : scale;
      EpilogueFloats x = to_floats(acc[i][v]) * by + bias;
      if (clamps) x = least_of(hi, most_of(lo, x));
      store_some((float*)dst, x, cols - column);
      dst += stride;
    });
  });
}

}  // namespace
}  // namespace octet
