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

template <int rows, int vectors>
OCTET_INLINE inline void store_sums(const Tile& t, const Sums (&acc)[rows][vectors]) {
  unroll<rows>([&](auto i) OCTET_INLINE {
    uint8_t* const dst = (uint8_t*)t.dst + i * t.dst_stride;
    unroll<vectors>([&](auto v) OCTET_INLINE {
      if (t.cols > kLanes * v)
        store_some(dst + 4 * kLanes * v, acc[i][v], 4 * (t.cols - kLanes * v));
    });
  });
}

// Stores the first `count` bytes of half a vector.
template <int half>
OCTET_INLINE inline void store_half(uint8_t* dst, const uint8_t* bytes, size_t count) {
  if (count == 2 * kLanes) {
    __builtin_memcpy(dst, bytes + half * 2 * kLanes, 2 * kLanes);
    return;
  }
  OCTET_NO_UNROLL
  for (size_t i = 0; i < count; ++i) dst[i] = bytes[half * 2 * kLanes + i];
}

// Skips the steps that a layer does not need; see kernels/x86/shared/requantize.h.
class Requantizer {
 public:
  explicit Requantizer(const Requantization& n)
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
  const auto words = [&](auto i) OCTET_INLINE {
    return to_int16(scaled(acc[i][0], scale[0]), scaled(acc[i][1], scale[1]));
  };
  unroll<(rows + 1) / 2>([&](auto pair) OCTET_INLINE {
    constexpr int a = 2 * pair, b = a + 1 < rows ? a + 1 : a;
    uint8_t bytes[4 * kLanes];
    requantizer.bytes(words(Int<a>{}), words(Int<b>{})).store_unaligned(bytes);
    uint8_t* const dst = (uint8_t*)t.dst + a * t.dst_stride;
    store_half<0>(dst, bytes, t.cols);
    if (b > a) store_half<1>(dst + t.dst_stride, bytes, t.cols);
  });
}

}  // namespace
}  // namespace octet
