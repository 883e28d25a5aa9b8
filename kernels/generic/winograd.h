// SPDX-License-Identifier: Apache-2.0
// Winograd's transforms, one text for all ISAs, in GCC's and Clang's vector extension, where + is
// one instruction and wraps. An ISA adds a struct that names its vectors and widens bytes:
//
//     struct Lanes : WinogradLanes<..> {                           // bytes of a vector
//       static Int16 widen_u8(const uint8_t*), widen_s8(const uint8_t*);
//       static void store_int8(uint8_t* bytes, Int16, int16_t factor, uint8_t flip);
//       static Sums round(Floats);                                 // half to even
//       static constexpr int kAhead = ..;                          // elements, for load_products
//       template <typename Variant> static void output(const WinogradOutput&);
//     };
//
// store_int8 applies WinogradInput's factors and flip. Products kAhead elements after a tile's are
// prefetched for the next tile (0: none); a constant costs no register. output stores a tile's
// outputs as 8 bits, where a tier can, or as s32 by output_s32.
//
// A variant consists of its 1-D transforms, which run over columns and then over lines, and the
// factor that its products carry.
#pragma once

#include <string.h>

#include "kernels/core/compiler.h"
#include "kernels/core/winograd_ops.h"

namespace octet {
namespace {

template <int bytes>
struct WinogradLanes {
  typedef uint16_t Int16 __attribute__((vector_size(bytes)));  // one input channel per lane
  typedef uint32_t Sums __attribute__((vector_size(bytes)));   // one output channel per lane
  typedef float Floats __attribute__((vector_size(bytes)));
};

// F(2,3): products carry the factor 4.
struct Winograd2x2 {
  static constexpr int kPatch = 4, kOut = 2;
  // The result of each line of the transform for ones
  static constexpr int kCentre[kPatch] = {0, 2, 0, 0};
  template <typename V>
  OCTET_INLINE static inline void input(const V* d, V* t) {
    t[0] = d[0] - d[2];
    t[1] = d[1] + d[2];
    t[2] = d[2] - d[1];
    t[3] = d[3] - d[1];
  }
  template <typename V>
  OCTET_INLINE static inline void output(const V* m, V* y) {
    y[0] = m[0] + m[1] + m[2];
    y[1] = m[1] - m[2] + m[3];
  }
  template <typename V, typename Signed>
  OCTET_INLINE static inline V recover(V y) {
    return (V)((Signed)y >> 2);
  }
};

// F(4,3): products carry the factor 576 = 9 * 64. 0x38E38E39 * 9 = 1 modulo 2^32, so nothing is
// lost as long as 64 y fits.
struct Winograd4x4 {
  static constexpr int kPatch = 6, kOut = 4;
  static constexpr int kCentre[kPatch] = {0, -6, 0, 0, 0, 0};
  template <typename V>
  OCTET_INLINE static inline void input(const V* d, V* t) {
    const V c = d[4] - d[2], e = d[3] - d[1], e2 = e + e;
    const V a = d[4] - (d[2] << 2), b = d[3] - (d[1] << 2);
    t[0] = ((d[0] - d[2]) << 2) + c;
    t[1] = a + b;
    t[2] = a - b;
    t[3] = c + e2;
    t[4] = c - e2;
    t[5] = d[5] - d[3] - (e2 + e2);
  }
  template <typename V>
  OCTET_INLINE static inline void output(const V* m, V* y) {
    const V s = m[1] + m[2], d = m[1] - m[2], s2 = m[3] + m[4], d2 = m[3] - m[4];
    y[0] = m[0] + s + s2;
    y[1] = d + (d2 + d2);
    y[2] = s + (s2 << 2);
    y[3] = d + (d2 << 3) + (m[5] << 2);
  }
  template <typename V, typename Signed>
  OCTET_INLINE static inline V recover(V y) {
    return (V)((Signed)(y * 0x38E38E39u) >> 6);
  }
};

// Stride 2: two outputs read x0..x4. x0 x2 x4 meet the outer weights in three products, x1 x3 meet
// the middle one. Products carry the factor 1.
struct Winograd2x2Stride2 {
  static constexpr int kPatch = 5, kOut = 2;
  static constexpr int kCentre[kPatch] = {0, 1, 0, 1, 1};
  template <typename V>
  OCTET_INLINE static inline void input(const V* d, V* t) {
    t[0] = d[0] - d[2];
    t[1] = d[2];
    t[2] = d[4] - d[2];
    t[3] = d[1];
    t[4] = d[3];
  }
  template <typename V>
  OCTET_INLINE static inline void output(const V* m, V* y) {
    y[0] = m[0] + m[1] + m[3];
    y[1] = m[1] + m[2] + m[4];
  }
  template <typename V, typename Signed>
  OCTET_INLINE static inline V recover(V y) {
    return y;
  }
};

// F(2,3) with the transformed input rounded to int8.
struct Winograd2x2Int8 : Winograd2x2 {};
template <typename Variant>
constexpr bool kInt8 = false;
template <>
constexpr bool kInt8<Winograd2x2Int8> = true;

template <bool first, typename A, typename B>
struct EitherOf {
  using Type = A;
};
template <typename A, typename B>
struct EitherOf<false, A, B> {
  using Type = B;
};
template <bool first, typename A, typename B>
using Either = typename EitherOf<first, A, B>::Type;

// One vector of channels of one patch; `to` is for its first tap.
template <typename Variant, typename Lanes, ElementType kType>
OCTET_INLINE inline void input_lanes(const WinogradInput& in, const uint8_t* const* pixels,
                                     size_t offset, uint8_t* to) {
  using Int16 = typename Lanes::Int16;
  constexpr int n = Variant::kPatch;
  Int16 lines[n][n];
  unroll<n>([&](auto x) OCTET_INLINE {
    Int16 d[n], t[n];
    unroll<n>([&](auto y) OCTET_INLINE {
      const uint8_t* const bytes = pixels[y * n + x] + offset;
      d[y] = kType == ElementType::kU8 ? Lanes::widen_u8(bytes) : Lanes::widen_s8(bytes);
    });
    Variant::input(d, t);
    unroll<n>([&](auto y) OCTET_INLINE { lines[y][x] = t[y]; });
  });
  unroll<n>([&](auto y) OCTET_INLINE {
    Int16 t[n];
    Variant::input(lines[y], t);
    unroll<n>([&](auto x) OCTET_INLINE {
      constexpr uint16_t centre =
          (uint16_t)(kType == ElementType::kU8
                         ? 128 * Variant::kCentre[y.value] * Variant::kCentre[x.value]
                         : 0);
      if constexpr (centre != 0) t[x] -= centre;
      constexpr int tap = y.value * n + x.value;
      if constexpr (kInt8<Variant>) {
        Lanes::store_int8(to + tap * in.tap_stride, t[x], in.factors[tap], in.flip);
      } else {
        memcpy(to + tap * in.tap_stride, &t[x], sizeof t[x]);
      }
    });
  });
}

// Copies `bytes` of each pixel by two moves of a Word, which overlap. Not inlined, so that all
// variants share it.
template <typename Word>
__attribute__((noinline)) void copy_pixels(const uint8_t* const* from, size_t bytes, size_t pixels,
                                           uint8_t* to, size_t stride) {
  OCTET_NO_UNROLL
  for (size_t i = 0; i < pixels; ++i, to += stride) {
    Word first, last;
    memcpy(&first, from[i], sizeof first);
    memcpy(&last, from[i] + bytes - sizeof last, sizeof last);
    memcpy(to, &first, sizeof first);
    memcpy(to + bytes - sizeof last, &last, sizeof last);
  }
}
inline void copy_few_channels(const WinogradInput& in, size_t pixels, uint8_t* to, size_t stride) {
  const auto copy = in.channels >= 16  ? copy_pixels<uint64_t[2]>
                    : in.channels >= 8 ? copy_pixels<uint64_t>
                    : in.channels >= 4 ? copy_pixels<uint32_t>
                    : in.channels >= 2 ? copy_pixels<uint16_t>
                                       : copy_pixels<uint8_t>;
  copy(in.pixels, in.channels, pixels, to, stride);
}

template <typename Variant, typename Lanes, ElementType kType>
void input_channels(const WinogradInput& in) {
  constexpr size_t lanes = sizeof(typename Lanes::Int16) / 2;
  constexpr int taps = Variant::kPatch * Variant::kPatch;
  if (in.channels < lanes) {
    uint8_t bytes[taps][lanes];
    const uint8_t* pixels[taps];
    memset(bytes, 0, sizeof bytes);
    copy_few_channels(in, taps, bytes[0], lanes);
    for (int i = 0; i < taps; ++i) pixels[i] = bytes[i];
    input_lanes<Variant, Lanes, kType>(in, pixels, 0, in.taps);
    return;
  }
  constexpr size_t element = kInt8<Variant> ? 1 : 2;
  const size_t step = lanes == 8 && in.eights_step ? in.eights_step : lanes * element;
  uint8_t* to = in.taps;
  for (size_t c = 0; c < in.channels; c += lanes, to += step) {
    // The last vector overlaps the one before it rather than leave the pixel.
    const size_t back = c + lanes > in.channels ? c + lanes - in.channels : 0;
    input_lanes<Variant, Lanes, kType>(in, in.pixels, c - back, to - element * back);
  }
}

template <typename Variant, typename Lanes>
void input_tile(const WinogradInput& in) {
  if (in.type == ElementType::kU8)
    input_channels<Variant, Lanes, ElementType::kU8>(in);
  else
    input_channels<Variant, Lanes, ElementType::kS8>(in);
}

// Loads one tap's products, scaled to float for k2x2Int8.
template <typename Lanes>
OCTET_INLINE inline void load_products(const WinogradOutput& o, size_t tap, size_t column,
                                       typename Lanes::Sums* value) {
  const int32_t* const products = o.products + tap * o.tap_stride + column;
  memcpy(value, products, sizeof *value);
  if constexpr (Lanes::kAhead > 0) __builtin_prefetch(products + Lanes::kAhead);
}
template <typename Lanes>
OCTET_INLINE inline void load_products(const WinogradOutput& o, size_t tap, size_t column,
                                       typename Lanes::Floats* value) {
  typedef int32_t Signed __attribute__((vector_size(sizeof *value)));
  Signed products;
  typename Lanes::Floats scale;
  memcpy(&products, o.products + tap * o.tap_stride + column, sizeof products);
  memcpy(&scale, o.tap_scale + tap * o.tap_scale_stride + column, sizeof scale);
  *value = __builtin_convertvector(products, typename Lanes::Floats) * scale;
}

// Clamps to int32, because CPUs convert larger floats to different integers.
template <typename Floats>
OCTET_INLINE inline Floats within_int32(Floats x) {
  const Floats most = Floats{} + 2147483520.0f, least = Floats{} - 2147483648.0f;
  x = x > most ? most : x;
  return x < least ? least : x;
}

// Transforms one vector of columns and adds init.
template <typename Variant, typename Lanes>
OCTET_INLINE inline void output_lanes(const WinogradOutput& o, size_t column,
                                      typename Lanes::Sums (&out)[Variant::kOut][Variant::kOut]) {
  using Sums = typename Lanes::Sums;
  using Value = Either<kInt8<Variant>, typename Lanes::Floats, Sums>;
  typedef int32_t Signed __attribute__((vector_size(sizeof(Sums))));
  constexpr int n = Variant::kPatch, m = Variant::kOut;
  Value lines[m][n];
  unroll<n>([&](auto x) OCTET_INLINE {
    Value d[n], t[m];
    unroll<n>([&](auto y) OCTET_INLINE { load_products<Lanes>(o, y * n + x, column, &d[y]); });
    Variant::output(d, t);
    unroll<m>([&](auto y) OCTET_INLINE { lines[y][x] = t[y]; });
  });
  unroll<m>([&](auto y) OCTET_INLINE {
    Value t[m];
    Variant::output(lines[y], t);
    unroll<m>([&](auto x) OCTET_INLINE {
      Sums init;
      memcpy(&init, o.init + (size_t)(y * m + x) * o.init_stride + column, sizeof init);
      if constexpr (kInt8<Variant>) {
        out[y][x] = Lanes::round(within_int32(t[x])) + init;
      } else {
        out[y][x] = Variant::template recover<Sums, Signed>(t[x]) + init;
      }
    });
  });
}

// Stores one vector of columns as s32.
template <typename Sums, int m>
OCTET_INLINE inline void store_lanes(const WinogradOutput& o, size_t column,
                                     const Sums (&out)[m][m]) {
  const size_t lanes = sizeof(Sums) / 4, count = o.cols - column < lanes ? o.cols - column : lanes;
  for (size_t y = 0; y < o.height; ++y)
    for (size_t x = 0; x < o.width; ++x) {
      uint8_t* const dst = (uint8_t*)o.dst + y * o.dst_line + x * o.dst_pixel + 4 * column;
      if (count == lanes)
        memcpy(dst, &out[y][x], sizeof(Sums));
      else
        memcpy(dst, &out[y][x], 4 * count);
    }
}

template <typename Variant, typename Lanes>
void output_s32(const WinogradOutput& o) {
  for (size_t column = 0; column < o.cols; column += sizeof(typename Lanes::Sums) / 4) {
    typename Lanes::Sums out[Variant::kOut][Variant::kOut];
    output_lanes<Variant, Lanes>(o, column, out);
    store_lanes(o, column, out);
  }
}

// Scales all columns of a tile: scaled(sums, scale) makes value[v] of the columns of vector v.
template <typename Variant, typename Lanes, typename Value, int vectors, int m, typename Scaled>
OCTET_INLINE inline void scale_tile(const WinogradOutput& o, Value (&value)[vectors][m][m],
                                    const Scaled& scaled) {
  constexpr size_t lanes = sizeof(typename Lanes::Sums) / 4;
  for (size_t v = 0; lanes * v < o.cols; ++v) {
    typename Lanes::Sums out[m][m];
    output_lanes<Variant, Lanes>(o, lanes * v, out);
    typename Lanes::Floats scale;
    memcpy(&scale, o.scale + lanes * v, sizeof scale);
    unroll<m>([&](auto y) OCTET_INLINE {
      unroll<m>([&](auto x) OCTET_INLINE { value[v][y][x] = scaled(out[y][x], scale); });
    });
  }
}

// A tier's operations. columns, stores_floats: as in WinogradOps.
template <typename Lanes>
constexpr WinogradOps winograd_ops(uint8_t columns, bool stores_floats = false) {
  return {{input_tile<Winograd2x2, Lanes>, input_tile<Winograd4x4, Lanes>,
           input_tile<Winograd2x2Stride2, Lanes>, input_tile<Winograd2x2Int8, Lanes>},
          {Lanes::template output<Winograd2x2>, Lanes::template output<Winograd4x4>,
           Lanes::template output<Winograd2x2Stride2>, Lanes::template output<Winograd2x2Int8>},
          columns,
          stores_floats};
}

}  // namespace
}  // namespace octet
