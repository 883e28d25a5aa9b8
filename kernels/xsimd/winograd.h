// Winograd's transforms on xsimd's batches: what kernels/generic/winograd.h wants of an ISA, and the
// narrow exit.
#pragma once

#include "kernels/generic/winograd.h"
#include "kernels/xsimd/exits.h"

namespace octet {
namespace {

struct Lanes {
  static constexpr int kAhead = 16;
  static constexpr int kBytes = sizeof(octet::Sums);
  typedef uint16_t Words __attribute__((vector_size(kBytes)));
  typedef uint32_t Sums __attribute__((vector_size(kBytes)));
  typedef float Floats __attribute__((vector_size(kBytes)));
  using Bytes = Batch<uint8_t>;

  // Half a vector of bytes, each twice, so that a shift leaves one of them.
  OCTET_INLINE static inline Bytes twice(const uint8_t* bytes) {
    const Bytes half = repeat_eight(bytes);
    return xsimd::zip_lo(half, half);
  }
  OCTET_INLINE static inline Words widen_u8(const uint8_t* bytes) {
    return (Words)as<Batch<uint16_t>>(twice(bytes)).data >> 8;
  }
  OCTET_INLINE static inline Words widen_s8(const uint8_t* bytes) {
    return (Words)(as<octet::Words>(twice(bytes)) >> 8).data;
  }
  OCTET_INLINE static inline void store_int8(uint8_t* bytes, Words words, int16_t factor,
                                             uint8_t flip) {
    const octet::Words rounded = multiply_rounded(of(words), octet::Words(factor));
    const Bytes packed = as<Bytes>(to_s8(rounded, rounded)) ^ Bytes(flip);
    __builtin_memcpy(bytes, &packed.data, kBytes / 2);
  }
  OCTET_INLINE static inline Sums round(Floats x) {
    return (Sums)xsimd::nearbyint_as_int(of(x)).data;
  }

  OCTET_INLINE static inline octet::Words of(Words x) { return {(octet::Words::register_type)x}; }
  OCTET_INLINE static inline octet::Sums of(Sums x) { return {(octet::Sums::register_type)x}; }
  OCTET_INLINE static inline octet::Floats of(Floats x) {
    return {(octet::Floats::register_type)x};
  }
};

// Sixteen columns at most: a pixel's are a vector of bytes.
template <typename Form>
void output_tile(const WinogradOutput& o) {
  if (!o.scale) return output_s32<Form, Lanes>(o);
  constexpr int m = Form::kOut;
  const Narrower narrower(*o.narrow);
  Sums sums[4][m][m];
  const size_t vectors = (o.cols + kLanes - 1) / kLanes;
  for (size_t v = 0; v < vectors; ++v) {
    Lanes::Sums out[m][m];
    output_lanes<Form, Lanes>(o, kLanes * v, out);
    const Floats scale = load<float>(o.scale + kLanes * v);
    unroll<m>([&](auto y) OCTET_INLINE {
      unroll<m>([&](auto x) OCTET_INLINE { sums[v][y][x] = scaled(Lanes::of(out[y][x]), scale); });
    });
  }
  for (size_t v = vectors; v < 4; ++v)
    for (int i = 0; i < m * m; ++i) sums[v][i / m][i % m] = sums[0][i / m][i % m];
  for (size_t y = 0; y < o.height; ++y)
    for (size_t x = 0; x < o.width; ++x)
      store_some((uint8_t*)o.dst + y * o.dst_line + x * o.dst_pixel,
                 narrower.bytes(to_words(sums[0][y][x], sums[1][y][x]),
                                to_words(sums[2][y][x], sums[3][y][x])),
                 o.cols);
}

}  // namespace
}  // namespace octet
