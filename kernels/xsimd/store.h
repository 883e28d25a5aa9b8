// SPDX-License-Identifier: Apache-2.0
// Stores tiles of two vectors of columns: as s32, or requantized in float mode (see
// Requantization), where saturation is part of the clamp.
#pragma once

#include "kernels/core/micro_kernel.h"
#include "kernels/xsimd/pairs.h"

namespace octet {
namespace {

template <typename T>
OCTET_INLINE inline Batch<T> load(const void* from) {
  return Batch<T>::load_unaligned((const T*)from);
}

// Stores the first `count` bytes and no others.
template <typename T>
OCTET_INLINE inline void store_some(uint8_t* dst, const Batch<T>& value, size_t count) {
  if (count >= sizeof value) return value.store_unaligned((T*)dst);
  T all[Batch<T>::size];
  value.store_unaligned(all);
  OCTET_NO_UNROLL
  for (size_t i = 0; i < count; ++i) dst[i] = ((const uint8_t*)all)[i];
}

// Copies `bytes` bytes of each row from the stack, for tiles that have fewer columns than vectors.
__attribute__((noinline)) inline void store_some_columns(const void* from, size_t apart,
                                                         size_t bytes, const Tile& t) {
  const uint8_t* row = (const uint8_t*)from;
  uint8_t* dst = (uint8_t*)t.dst;
  for (size_t i = 0; i < t.rows; ++i, row += apart, dst += t.dst_stride)
    __builtin_memcpy(dst, row, bytes);
}

template <int rows, int vectors>
OCTET_INLINE inline void store_sums(const Tile& t, const Sums (&acc)[rows][vectors]) {
  int32_t some[rows][vectors * kLanes];
  const bool whole = t.cols == vectors * kLanes;
  uint8_t* const to = whole ? (uint8_t*)t.dst : (uint8_t*)some;
  const size_t stride = whole ? t.dst_stride : sizeof some[0];
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<vectors>([&](auto v) OCTET_INLINE {
      acc[i][v].store_unaligned((int32_t*)(to + i * stride) + v * kLanes);
    });
  });
  if (!whole) store_some_columns(some, sizeof some[0], t.cols * sizeof(int32_t), t);
}

// Skips the steps that a layer does not need; see kernels/x86/shared/requantize.h.
class Requantizer {
 public:
  OCTET_INLINE inline explicit Requantizer(const Requantization& n)
      : zero_point_((int16_t)n.zero_point),
        lo_((uint8_t)n.lo),
        hi_((uint8_t)n.hi),
        u8_(n.dst_type == ElementType::kU8),
        moves_(n.zero_point != 0),
        raises_(n.lo != (u8_ ? 0 : -128)),
        lowers_(n.hi != (u8_ ? 255 : 127)) {}

  OCTET_INLINE inline Batch<uint8_t> bytes(Int16 low, Int16 high) const {
    if (moves_) {
      low = xsimd::sadd(low, zero_point_);
      high = xsimd::sadd(high, zero_point_);
    }
    return u8_ ? clamped(to_u8(low, high)) : as<Batch<uint8_t>>(clamped(to_s8(low, high)));
  }

 private:
  template <typename T>
  OCTET_INLINE inline Batch<T> clamped(Batch<T> x) const {
    if (raises_) x = xsimd::max(x, as<Batch<T>>(lo_));
    if (lowers_) x = xsimd::min(x, as<Batch<T>>(hi_));
    return x;
  }

  Int16 zero_point_;
  Batch<uint8_t> lo_, hi_;
  bool u8_, moves_, raises_, lowers_;
};

// Scales and rounds half to even; the caller has set the rounding mode.
OCTET_INLINE inline Sums scaled(Sums acc, Floats scale) {
  return xsimd::nearbyint_as_int(xsimd::to_float(acc) * scale);
}

// Requantizes two rows at a time: the steps after the scale cost as much for two rows as for one.
template <int rows>
OCTET_INLINE inline void store_requantized8(const Tile& t, const Sums (&acc)[rows][2]) {
  const Requantizer requantizer(*t.requantization);
  const Floats scale[2] = {load<float>(t.scale), load<float>(t.scale + kLanes)};
  const auto int16 = [&](auto i) OCTET_INLINE {
    return to_int16(scaled(acc[i][0], scale[0]), scaled(acc[i][1], scale[1]));
  };
  constexpr size_t kWidth = 2 * kLanes;
  constexpr int kPairs = (rows + 1) / 2;
  uint8_t some[2 * kPairs][kWidth];
  const bool whole = t.cols == kWidth;
  unroll<kPairs>([&](auto pair) OCTET_INLINE {
    constexpr int a = 2 * pair, b = a + 1 < rows ? a + 1 : a;
    requantizer.bytes(int16(Int<a>{}), int16(Int<b>{})).store_unaligned(some[a]);
    if (!whole) return;
    uint8_t* const dst = (uint8_t*)t.dst + a * t.dst_stride;
    __builtin_memcpy(dst, some[a], kWidth);
    if (b > a) __builtin_memcpy(dst + t.dst_stride, some[a + 1], kWidth);
  });
  if (!whole) store_some_columns(some, kWidth, t.cols, t);
}

}  // namespace
}  // namespace octet
