// SPDX-License-Identifier: Apache-2.0
// A kernel in plain C++ that reads weights of 2 bits (packing/quarters.h): it decodes them once for
// many tiles, or tile by tile.
#include "kernels/core/micro_kernel.h"
#include "kernels/generic/gather.h"
#include "kernels/scalar/kernels.h"

namespace octet {
namespace {

constexpr size_t kMr = 4, kNr = 16, kKr = 16;

void decode(const uint8_t* rhs, size_t rhs_stride, size_t groups, uint8_t* to) {
  for (; groups; --groups, rhs += rhs_stride)
    for (size_t j = 0; j < kNr; ++j)
      for (size_t k = 0; k < kKr; ++k)
        *to++ = (uint8_t)((int8_t)(rhs[4 * j + k % 4] >> k / 4 * 2 << 6) >> 6);
}

void multiply(const Tile& t) {
  uint8_t room[kNr * kKr];
  for (size_t i = 0; i < t.rows; ++i)
    for (size_t j = 0; j < t.cols; ++j)
      ((int32_t*)((uint8_t*)t.dst + i * t.dst_stride))[j] = t.init[i * t.init_stride + j];
  for (size_t group = 0; group * kKr < t.depth; ++group) {
    const uint8_t* rhs = t.rhs + group * sizeof room;
    if (!t.rhs_decoded) {
      decode(t.rhs + group * t.rhs_stride, t.rhs_stride, 1, room);
      rhs = room;
    }
    for (size_t i = 0; i < t.rows; ++i) {
      const uint8_t* const lhs = (const uint8_t*)t.lhs + (group * kMr + i) * kKr;
      int32_t* const dst = (int32_t*)((uint8_t*)t.dst + i * t.dst_stride);
      for (size_t j = 0; j < t.cols; ++j) {
        uint32_t acc = (uint32_t)dst[j];
        for (size_t k = 0; k < kKr; ++k) acc += (uint32_t)(lhs[k] * (int8_t)rhs[kKr * j + k]);
        dst[j] = (int32_t)acc;
      }
    }
  }
}

}  // namespace

const MicroKernel throwaway_u8s8_4x16x16 = {
    .name = "throwaway_u8s8_4x16x16",
    .tier_id = TierId::kThrowaway,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = kNr,
    .flags = kAnyLhs,
    .rhs_layout = kThrowawayQuarters,
    .gather = gather_rows<uint8_t, kKr>,
    .lhs_lanes_step = kMr,
    .lhs_kr = kKr,
    .multiply = multiply,
    .decoder = {decode, kNr* kKr},
};

}  // namespace octet
