// SPDX-License-Identifier: Apache-2.0
// Winograd's transforms on NEON.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/intrinsics.h"
#include "kernels/arm/shared/requantize.h"
#include "kernels/arm/shared/store_floats.h"
#include "kernels/generic/winograd.h"

namespace octet {
namespace {

struct Lanes : WinogradLanes<16> {
  OCTET_INLINE static inline Int16 widen_u8(const uint8_t* bytes) {
    return (Int16)vmovl_u8(vld1_u8(bytes));
  }
  OCTET_INLINE static inline Int16 widen_s8(const uint8_t* bytes) {
    return (Int16)vmovl_s8(vld1_s8((const int8_t*)bytes));
  }
  OCTET_INLINE static inline void store_int8(uint8_t* bytes, Int16 int16, int16_t factor,
                                             uint8_t flip) {
    const int8x8_t rounded = vqmovn_s16(vqrdmulhq_n_s16((int16x8_t)int16, factor));
    vst1_u8(bytes, veor_u8(vreinterpret_u8_s8(rounded), vdup_n_u8(flip)));
  }
  OCTET_INLINE static inline Sums round(Floats x) { return (Sums)vcvtnq_s32_f32((float32x4_t)x); }

  template <typename Variant>
  static void output(const WinogradOutput& o);
};

// Loads a vector and advances the address by `step` bytes: compilers would compute all addresses
// ahead, and spill them. Nobody writes the loaded memory meanwhile.
OCTET_INLINE inline Lanes::Sums load_by(const int32_t*& from, size_t step) {
  int32x4_t four;
#if defined(__aarch64__)
  __asm__ volatile("ld1 {%0.4s}, [%1], %2" : "=w"(four), "+r"(from) : "r"(step));
#else
  four = vld1q_s32(from);
  from = (const int32_t*)((const uint8_t*)from + step);
#endif
  return (Lanes::Sums)four;
}

#if defined(__aarch64__)
template <int lane>
OCTET_INLINE inline void store_lane(uint8x16_t four, uint8_t*& to, size_t step) {
  __asm__ volatile("st1 {%1.s}[%c2], [%0], %3"
                   : "+r"(to)
                   : "w"(four), "n"(lane), "r"(step)
                   : "memory");
}
#endif

// As output_lanes, line by line of outputs: use(y, line).
template <typename Variant, typename Use>
OCTET_INLINE inline void output_lines(const WinogradOutput& o, size_t column, size_t tap,
                                      size_t next, const Use& use) {
  using Sums = Lanes::Sums;
  typedef int32_t Signed __attribute__((vector_size(sizeof(Sums))));
  constexpr int n = Variant::kPatch, m = Variant::kOut;
  if constexpr (kInt8<Variant>) {
    Sums out[m][m];
    output_lanes<Variant, Lanes>(o, column, out);
    unroll<m>([&](auto y) OCTET_INLINE { use(y, out[y]); });
  } else {
    const int32_t *first = o.products + column, *init = o.init + column;
    Sums lines[m][n];
    unroll<n>([&](auto x) OCTET_INLINE {
      Sums d[n], t[m];
      const int32_t* at = first;
      unroll<n>([&](auto y) OCTET_INLINE { d[y] = load_by(at, n * tap); });
      first = (const int32_t*)((const uint8_t*)first + tap);
      Variant::output(d, t);
      unroll<m>([&](auto y) OCTET_INLINE { lines[y][x] = t[y]; });
    });
    unroll<m>([&](auto y) OCTET_INLINE {
      Sums t[m];
      Variant::output(lines[y], t);
      unroll<m>([&](auto x) OCTET_INLINE {
        t[x] = Variant::template recover<Sums, Signed>(t[x]) + load_by(init, next);
      });
      use(y, t);
    });
  }
}

// Stores `count` outputs of `cols` of four columns.
__attribute__((noinline)) void store_few(uint32x4_t four, uint8_t* to, size_t pixel, size_t count,
                                         size_t cols) {
  uint32_t pixels[4];
  vst1q_u32(pixels, four);
  OCTET_NO_UNROLL
  for (size_t i = 0; i < count; ++i, to += pixel) {
    if (cols >= 4)
      memcpy(to, &pixels[i], 4);
    else
      memcpy(to, &pixels[i], cols);
  }
}

// Stores `count` outputs of `bytes` bytes, at most 16.
template <size_t most>
__attribute__((noinline)) void store_few_words(const int32x4_t (&words)[most], uint8_t* to,
                                               size_t pixel, size_t count, size_t bytes) {
  OCTET_NO_UNROLL
  for (size_t i = 0; i < count; ++i, to += pixel) memcpy(to, &words[i], bytes);
}

// Stores outputs as s32 or f32.
template <typename Variant>
void output_words(const WinogradOutput& o) {
  constexpr int m = Variant::kOut;
  const size_t cols = o.cols, tap = o.tap_stride * sizeof(int32_t),
               next = o.init_stride * sizeof(int32_t), pixel = o.dst_pixel, line = o.dst_line,
               width = o.width;
  const bool floats = kStoresFloatsHere && o.scale, clamps = floats && o.requantization->clamps;
  for (size_t column = 0; column < cols; column += 4) {
    FloatColumns by = {};
    if (floats) {
      by = FloatColumns::at(o.scale + column, o.requantization->bias_apart);
      by.scale = vmulq_n_f32(by.scale, o.row_scale);
    }
    const size_t bytes = sizeof(int32_t) * (cols - column < 4 ? cols - column : 4);
    const bool whole = bytes == 16 && width == m;
    uint8_t* to = (uint8_t*)o.dst + sizeof(int32_t) * column;
    size_t lines = o.height;
    output_lines<Variant>(
        o, column, tap, next, [&](auto, const Lanes::Sums(&sums)[m]) OCTET_INLINE {
          if (!lines) return;
          --lines;
          int32x4_t words[m];
          unroll<m>([&](auto x) OCTET_INLINE { words[x] = (int32x4_t)sums[x]; });
          if (floats)
            unroll<m>([&](auto x) OCTET_INLINE {
              float32x4_t value = by.of(words[x]);
              if (__builtin_expect(clamps, 0))
                value = clamped(value, vdupq_n_f32(o.requantization->lo_f32),
                                vdupq_n_f32(o.requantization->hi_f32));
              words[x] = vreinterpretq_s32_f32(value);
            });
          if (whole) {
            uint8_t* dst = to;
            unroll<m>([&](auto x)
                          OCTET_INLINE { vst1q_s32((int32_t*)dst, words[x]), dst += pixel; });
          } else {
            store_few_words(words, to, pixel, width, bytes);
          }
          to += line;
        });
  }
}

// Four outputs of four columns fill one register of bytes.
template <typename Variant>
void Lanes::output(const WinogradOutput& o) {
  if (!o.scale || o.requantization->to_floats) return output_words<Variant>(o);
  constexpr int m = Variant::kOut;
  const Requantizing16 n = requantizing16(*o.requantization);
  // Copies, because a store of bytes may change what `o` refers to
  const size_t cols = o.cols, tap = o.tap_stride * sizeof(int32_t),
               next = o.init_stride * sizeof(int32_t);
  const size_t pixel = o.dst_pixel, line = o.dst_line, height = o.height, width = o.width;
  [[maybe_unused]] const bool whole = cols % 4 == 0 && height == m && width == m;
  for (size_t column = 0; column < cols; column += 4) {
    uint8_t* to = (uint8_t*)o.dst + column;
    const FloatScale scale = FloatScale::at(o.scale + column, 0);
    int32x4_t four[4];
    output_lines<Variant>(o, column, tap, next, [&](auto y, const Sums(&sums)[m]) OCTET_INLINE {
      unroll<m>([&](auto x) OCTET_INLINE {
        constexpr int at = y.value * m + x.value;
        four[at % 4] = (int32x4_t)sums[x];
        if constexpr (at % 4 == 3) {
          const uint8x16_t bytes =
              requantized<Store::kClamped>(four, {scale, scale, scale, scale}, n);
#if defined(__aarch64__)
          if (whole) {
            uint8_t* dst = to;
            to += line;
            unroll<4>([&](auto i) OCTET_INLINE {
              if constexpr (i == m) dst = to, to += line;
              store_lane<i.value>(bytes, dst, pixel);
            });
            return;
          }
#endif
          uint32x4_t outputs = vreinterpretq_u32_u8(bytes);
          unroll<4 / m>([&](auto i) OCTET_INLINE {
            if constexpr (i == 1)
              outputs = vcombine_u32(vget_high_u32(outputs), vget_high_u32(outputs));
            if ((at - 3) / m + i < height) store_few(outputs, to, pixel, width, cols - column);
            to += line;
          });
        }
      });
    });
  }
}

}  // namespace

const WinogradOps neon_winograd = winograd_ops<Lanes>(8, kStoresFloatsHere != 0);

}  // namespace octet
