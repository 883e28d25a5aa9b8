// How the kernels of 16 columns on ymm registers leave if not by float mode: s32, and TFLite mode
// by the same stores, to the stack.
#pragma once

#include "kernels/x86/sums_ymm.h"
#include "kernels/x86/tflite_exit.h"

namespace octet {
namespace {

template <int rows>
OCTET_INLINE inline void leave_sums(const Tile& t, const __m256i (&acc)[rows][2]) {
  alignas(32) int32_t sums[rows][16];
  uint8_t* const dst = t.scale ? (uint8_t*)sums : (uint8_t*)t.dst;
  const size_t stride = t.scale ? sizeof sums[0] : t.dst_stride, cols = t.scale ? 16 : t.cols;
  store_sums(acc, dst, stride, cols);
  if (t.scale) tflite_exit(t, sums[0], 16);
}

}  // namespace
}  // namespace octet
