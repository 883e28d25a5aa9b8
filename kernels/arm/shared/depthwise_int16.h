// SPDX-License-Identifier: Apache-2.0
// Depthwise by int16 weights, for AArch64: weights that have zero points, and those whose pairs of
// products do not fit 16 bits. A pixel is widened once for all outputs that read it, and SMLAL
// multiplies it by the weights of each:
//
//     3x3, stride 1   columns of widened pixels stay in registers: 18, and 4 sums
//     3x3, stride 2   weights stay in registers: 18, and the sums of two outputs
//     5x5             lines are copied as int16 (`widen_5x5`)
#pragma once

#include "kernels/arm/shared/copied_5x5.h"
#include "kernels/arm/shared/copy_bytes.h"

namespace octet {
namespace {

#if defined(__aarch64__)

// Sixteen channels of a pixel or of weights.
struct Wide {
  int16x8_t low, high;
};

// Load the sums of an output before its products, and multiply: of sums in one of two sets of fixed
// registers, because GCC 12 copies them between others.
#define OCTET_SET_OF_SUMS(set, r0, r1, r2, r3)                                                \
  OCTET_INLINE inline void load_start(Int<set>, const uint8_t* prepared, Sixteen::Acc& acc) { \
    register int32x4_t x0 __asm__("v" #r0), x1 __asm__("v" #r1), x2 __asm__("v" #r2),         \
        x3 __asm__("v" #r3);                                                                  \
    __asm__ volatile("ld1 {%0.4s, %1.4s, %2.4s, %3.4s}, [%4]"                                 \
                     : "=w"(x0), "=w"(x1), "=w"(x2), "=w"(x3)                                 \
                     : "r"(prepared));                                                        \
    acc = {{x0, x1, x2, x3}};                                                                 \
  }                                                                                           \
  OCTET_INLINE inline void multiply_add(Int<set>, Sixteen::Acc& acc, const Wide& p,           \
                                        const Wide& w) {                                      \
    register int32x4_t x0 __asm__("v" #r0) = acc.a[0], x1 __asm__("v" #r1) = acc.a[1],        \
                                      x2 __asm__("v" #r2) = acc.a[2],                         \
                                      x3 __asm__("v" #r3) = acc.a[3];                         \
    __asm__ volatile(                                                                         \
        "smlal %0.4s, %4.4h, %6.4h\n smlal2 %1.4s, %4.8h, %6.8h\n"                            \
        "smlal %2.4s, %5.4h, %7.4h\n smlal2 %3.4s, %5.8h, %7.8h"                              \
        : "+&w"(x0), "+&w"(x1), "+&w"(x2), "+&w"(x3)                                          \
        : "w"(p.low), "w"(p.high), "w"(w.low), "w"(w.high));                                  \
    acc = {{x0, x1, x2, x3}};                                                                 \
  }
OCTET_SET_OF_SUMS(0, 0, 1, 2, 3)
OCTET_SET_OF_SUMS(1, 4, 5, 6, 7)
#undef OCTET_SET_OF_SUMS

// Load two neighbours, which are 32 bytes each, and advance past them.
#define OCTET_LOAD_TWO(name, r0, r1, r2, r3)                                          \
  OCTET_INLINE inline void name(const uint8_t*& from, Wide& first, Wide& second) {    \
    register int16x8_t x0 __asm__("v" #r0), x1 __asm__("v" #r1), x2 __asm__("v" #r2), \
        x3 __asm__("v" #r3);                                                          \
    __asm__ volatile("ld1 {%0.8h, %1.8h, %2.8h, %3.8h}, [%4], #64"                    \
                     : "=w"(x0), "=w"(x1), "=w"(x2), "=w"(x3), "+r"(from));           \
    first = {x0, x1}, second = {x2, x3};                                              \
  }
OCTET_LOAD_TWO(load_two_taps, 28, 29, 30, 31)
OCTET_LOAD_TWO(load_pixels_0, 24, 25, 26, 27)
OCTET_LOAD_TWO(load_pixels_2, 20, 21, 22, 23)
#undef OCTET_LOAD_TWO

// Loads the pixels of a line for so many neighbouring outputs, and advances to those of the next
// ones. step: from an output to the next, less four pixels.
OCTET_INLINE inline void load_pixels(Int<1>, const uint8_t*& from, size_t step, Wide (&to)[6]) {
  load_pixels_0(from, to[0], to[1]);
  load_pixels_2(from, to[2], to[3]);
  register int16x8_t x0 __asm__("v16"), x1 __asm__("v17");
  __asm__ volatile("ld1 {%0.8h, %1.8h}, [%2], %3" : "=w"(x0), "=w"(x1), "+r"(from) : "r"(step));
  to[4] = {x0, x1};
}
OCTET_INLINE inline void load_pixels(Int<2>, const uint8_t*& from, size_t step, Wide (&to)[6]) {
  load_pixels_0(from, to[0], to[1]);
  load_pixels_2(from, to[2], to[3]);
  register int16x8_t x0 __asm__("v16"), x1 __asm__("v17"), x2 __asm__("v18"), x3 __asm__("v19");
  __asm__ volatile("ld1 {%0.8h, %1.8h, %2.8h, %3.8h}, [%4], %5"
                   : "=w"(x0), "=w"(x1), "=w"(x2), "=w"(x3), "+r"(from)
                   : "r"(step + 32));
  to[4] = {x0, x1}, to[5] = {x2, x3};
}

// The three input lines of an output line. Columns outside the image are pixels of zero points.
// flip: all bytes are xor-ed, maybe with zeros.
template <bool flip>
struct WidenedLines {
  using Pixels = int8x16_t[3];
  const uint8_t* pixel[3];
  size_t step[3], column;
  const size_t in_w, last;
  const uint8_t* const zero;
  const int8x16_t sign;

  OCTET_INLINE inline explicit WidenedLines(const DepthwiseTile& t)
      : in_w(t.in_w), last(in_w - 1), zero(t.zero), sign(Sixteen::sign(t.flip)) {}
  OCTET_INLINE inline void start(const uint8_t* const* pixels, const size_t* steps, size_t first) {
    unroll<3>([&](auto i) OCTET_INLINE { pixel[i] = pixels[i], step[i] = steps[i]; });
    column = first;
  }
  OCTET_INLINE inline void load(Pixels& p) {
    unroll<3>([&](auto i) OCTET_INLINE { load16_row(p[i], pixel[i], step[i]); });
  }
  OCTET_INLINE inline void load_if(bool is_inside, Pixels& p) {
    if (__builtin_expect(is_inside, 1))
      load(p);
    else
      p[0] = p[1] = p[2] = Sixteen::load(zero);
  }
  // The next two columns.
  OCTET_INLINE inline void load_two(Pixels& p, Pixels& q) {
    if (__builtin_expect(column < last, 1)) {
      load(p);
      load(q);
    } else {
      load_if(column < in_w, p);
      load_if(column + 1 < in_w, q);
    }
    pass(2);
  }
  // The count is hidden: compilers would compute it anew from others.
  OCTET_INLINE inline void pass(size_t columns) {
    column += columns;
    __asm__("" : "+r"(column));
  }
  OCTET_INLINE inline void flip_all(Pixels& p) const {
    if constexpr (flip) unroll<3>([&](auto i) OCTET_INLINE { p[i] = veorq_s8(p[i], sign); });
  }
  // Calls use(i, pixel) for three pixels.
  template <typename Use>
  OCTET_INLINE inline void widen(const Pixels& p, const Use& use) const {
    unroll<3>([&](auto i) OCTET_INLINE {
      const int8x16_t x = flip ? veorq_s8(p[i], sign) : p[i];
      use(i, Wide{vmovl_s8(vget_low_s8(x)), vmovl_high_s8(x)});
    });
  }
  OCTET_INLINE inline void next(Wide (&to)[3]) {
    Pixels p;
    load_if(column < in_w, p);
    pass(1);
    widen(p, [&](auto i, const Wide& wide) OCTET_INLINE { to[i] = wide; });
  }
};

// Output lines of a tile, and of those below.
inline size_t lines_of(const DepthwiseTile& t) { return t.tiles * t.rows; }

// Whether outputs are s8 in float mode and the clamp is the type's range.
inline bool saturates_s8(const Requantization& r) { return r.lo == -128 && r.hi == 127; }

// Requantizes to s8 without a clamp.
template <typename M>
OCTET_INLINE inline uint8x16_t saturated(const Sixteen::Acc& acc, const typename M::Ends& ends,
                                         Requantizing16 n) {
  FloatScale by[4];
  ends.load_scales(by);
  n.flip = vdupq_n_u8(0);  // compilers leave the flip out
  return requantized<Store::kSaturated>(acc.a, by, n);
}

// Stores an output; saturates: by saturates_s8.
template <typename M, DepthwiseOutput kind, bool saturates>
struct WalkStore {
  const DepthwiseStore<M, kind> store;
  OCTET_INLINE inline explicit WalkStore(const DepthwiseTile& t) : store(t) {}
  OCTET_INLINE inline void operator()(const Sixteen::Acc& acc, const typename M::Ends& ends,
                                      uint8_t* dst) const {
    if constexpr (saturates) {
      vst1q_u8(dst, saturated<M>(acc, ends, store.requantization.n));
    } else {
      store(acc, ends, dst);
    }
  }
};

template <typename M, bool flip, DepthwiseOutput kind, bool saturates>
__attribute__((noinline)) void walk_int16_by_1(const DepthwiseTile& t) {
  const WalkStore<M, kind, saturates> store(t);
  const typename M::Ends ends((const uint8_t*)t.prepared);
  const uint8_t *const init = (const uint8_t*)t.prepared, *const weights = init + M::kPrepared;
  WidenedLines<flip> lines(t);
  const size_t dst_pixel = t.dst_pixel, dst_line = t.dst_line, end = t.first_column + 2 + t.columns;
  using Column = Wide[3];
  uint8_t* dst;
  const auto output = [&](const Column& a, const Column& b, Column& c) OCTET_INLINE {
    lines.next(c);
    Sixteen::Acc acc;
    load_start(Int<0>{}, init, acc);
    const uint8_t* from = weights;
    const auto pixel = [&](int tap) OCTET_INLINE {
      return tap < 3 ? a[tap] : tap < 6 ? b[tap - 3] : c[tap - 6];
    };
    unroll<4>([&](auto i) OCTET_INLINE {
      Wide w[2];
      load_two_taps(from, w[0], w[1]);
      multiply_add(Int<0>{}, acc, pixel(2 * i), w[0]);
      multiply_add(Int<0>{}, acc, pixel(2 * i + 1), w[1]);
    });
    Wide last;
    load_two<0>(last.low, last.high, from);
    multiply_add(Int<0>{}, acc, pixel(8), last);
    store(acc, ends, dst);
    dst += dst_pixel;
  };
  const uint8_t* const* pixels = t.pixels;
  const size_t* steps = t.steps;
  uint8_t* first_dst = t.dst;
  for (size_t line = lines_of(t); line; --line, first_dst += dst_line) {
    lines.start(pixels++, steps++, t.first_column);
    dst = first_dst;
    Column a, b, c;
    lines.next(a);
    lines.next(b);
    while (true) {
      output(a, b, c);
      if (lines.column == end) break;
      output(b, c, a);
      if (lines.column == end) break;
      output(c, a, b);
      if (lines.column == end) break;
    }
  }
}

// A column that ends an output begins the next one, whose sums take turns with those of the last.
template <typename M, bool flip, DepthwiseOutput kind, bool saturates>
__attribute__((noinline)) void walk_int16_by_2(const DepthwiseTile& t) {
  const WalkStore<M, kind, saturates> store(t);
  const typename M::Ends ends((const uint8_t*)t.prepared);
  const uint8_t* const init = (const uint8_t*)t.prepared;
  Wide w[9];
  unroll<9>([&](auto tap)
                OCTET_INLINE { load_two<32 * tap>(w[tap].low, w[tap].high, init + M::kPrepared); });
  WidenedLines<flip> lines(t);
  const size_t dst_pixel = t.dst_pixel, dst_line = t.dst_line,
               end = t.first_column + 1 + 2 * t.columns;
  using Pixels = typename WidenedLines<flip>::Pixels;
  uint8_t* dst;
  const auto output = [&](auto set, Sixteen::Acc& acc, Sixteen::Acc& begun) OCTET_INLINE {
    constexpr int other = 1 - set.value;
    Pixels p, q;
    lines.load_two(p, q);
    lines.widen(p, [&](auto i, const Wide& x)
                       OCTET_INLINE { multiply_add(Int<set.value>{}, acc, x, w[3 + i]); });
    load_start(Int<other>{}, init, begun);
    lines.widen(q, [&](auto i, const Wide& x) OCTET_INLINE {
      multiply_add(Int<set.value>{}, acc, x, w[6 + i]);
      multiply_add(Int<other>{}, begun, x, w[i]);
    });
    store(acc, ends, dst);
    dst += dst_pixel;
  };
  const uint8_t* const* pixels = t.pixels;
  const size_t* steps = t.steps;
  uint8_t* first_dst = t.dst;
  for (size_t line = lines_of(t); line; --line, first_dst += dst_line, pixels += 2, steps += 2) {
    lines.start(pixels, steps, t.first_column);
    dst = first_dst;
    Sixteen::Acc a, b;
    load_start(Int<0>{}, init, a);
    Pixels first;
    lines.load_if(lines.column < lines.in_w, first);
    lines.pass(1);
    lines.widen(first,
                [&](auto i, const Wide& x) OCTET_INLINE { multiply_add(Int<0>{}, a, x, w[i]); });
    while (true) {
      output(Int<0>{}, a, b);
      if (lines.column == end) break;
      output(Int<1>{}, b, a);
      if (lines.column == end) break;
    }
  }
}

// As multiply_copied, of lines of int16. With stride 1 two outputs share pixels and weights.
template <typename M, DepthwiseOutput kind>
__attribute__((noinline)) void five_by_int16(const DepthwiseTile& t) {
  const DepthwiseStore<M, kind> store(t);
  const typename M::Ends ends((const uint8_t*)t.prepared);
  const uint8_t *const init = (const uint8_t*)t.prepared, *const weights = init + M::kPrepared;
  const uint8_t* line[5];
  const uint8_t* const* lines = t.pixels;
  const size_t step = t.steps[0] - 128, stride = t.steps[1], dst_pixel = t.dst_pixel,
               dst_line = t.dst_line, columns = t.columns;
  const bool pairs = t.steps[0] == 32;
  const bool saturates = kind == DepthwiseOutput::kFloat && saturates_s8(*t.requantization);
  const auto finish = [&](const Sixteen::Acc& acc, uint8_t* dst) OCTET_INLINE {
    if constexpr (kind == DepthwiseOutput::kFloat) {
      const Requantizing16& n = store.requantization.n;
      uint8x16_t bytes = saturated<M>(acc, ends, n);
      if (__builtin_expect(!saturates, 0)) {
        const int8x16_t clamped = vmaxq_s8(vreinterpretq_s8_u8(bytes), n.lo);
        bytes = veorq_u8(vreinterpretq_u8_s8(vminq_s8(clamped, n.hi)), n.flip);
      }
      vst1q_u8(dst, bytes);
    } else {
      store(acc, ends, dst);
    }
  };
  // Makes `outputs` neighbours
  const auto make = [&](auto outputs, uint8_t* dst) OCTET_INLINE {
    Sixteen::Acc acc[outputs.value];
    unroll<outputs>([&](auto i) OCTET_INLINE { load_start(Int<i>{}, init, acc[i]); });
    const uint8_t* from = weights;
    Wide p[6], w[2];
    unroll<5>([&](auto ky) OCTET_INLINE {
      load_pixels(Int<outputs.value>{}, line[ky], step, p);
      unroll<5>([&](auto kx) OCTET_INLINE {
        constexpr int tap = 5 * ky.value + kx.value;
        if constexpr (tap == 24) load_two<0>(w[0].low, w[0].high, from);
        if constexpr (tap < 24 && tap % 2 == 0) load_two_taps(from, w[0], w[1]);
        unroll<outputs>(
            [&](auto i) OCTET_INLINE { multiply_add(Int<i>{}, acc[i], p[kx + i], w[tap % 2]); });
      });
    });
    unroll<outputs>([&](auto i) OCTET_INLINE { finish(acc[i], dst + i * dst_pixel); });
  };
  uint8_t* first_dst = t.dst;
  for (size_t tiles = t.tiles; tiles; --tiles, lines += stride, first_dst += dst_line) {
    unroll<5>([&](auto i) OCTET_INLINE { line[i] = lines[i]; });
    uint8_t* dst = first_dst;
    size_t x = columns;
    if (pairs) {
      OCTET_NO_UNROLL
      for (; x >= 2; x -= 2, dst += 2 * dst_pixel) make(Int<2>{}, dst);
    }
    OCTET_NO_UNROLL
    for (; x; --x, dst += dst_pixel) make(Int<1>{}, dst);
  }
}

template <typename M, DepthwiseOutput kind, bool saturates = false>
OCTET_INLINE inline void walk_int16_form(const DepthwiseTile& t) {
  (t.loop == DepthwiseLoop::kWalk ? walk_int16_by_1<M, !saturates, kind, saturates>
                                  : walk_int16_by_2<M, !saturates, kind, saturates>)(t);
}
template <typename M, DepthwiseOutput kind>
OCTET_INLINE inline void walk_int16(const DepthwiseTile& t) {
  if constexpr (kind == DepthwiseOutput::kFloat)
    if (!t.flip && saturates_s8(*t.requantization)) return walk_int16_form<M, kind, true>(t);
  walk_int16_form<M, kind>(t);
}

// Writes a block's weights as they are read, int8 or int16: those of the taps in a group of four,
// group by group.
template <int taps, typename Weight>
inline void write_int16(const DepthwiseBlock& b, uint8_t* out) {
  const Weight* from = (const Weight*)b.weights;
  OCTET_NO_UNROLL
  for (size_t g = 0; g < b.groups; ++g, from += kDepthwiseGroup, out += 32 * taps)
    unroll<4>([&](auto v) OCTET_INLINE {
      alignas(16) int16_t wide[16];
      const int16_t* four = (const int16_t*)from + 64 * v;
      if constexpr (sizeof(Weight) == 1) {
        const int8x16_t w = vld1q_s8((const int8_t*)from + 64 * v);
        vst1q_s16(wide, vmovl_s8(vget_low_s8(w)));
        vst1q_s16(wide + 8, vmovl_high_s8(w));
        four = wide;
      }
      const int16x4x4_t by_tap = vld4_s16(four);
      unroll<taps>([&](auto tap) OCTET_INLINE {
        vst1_s16((int16_t*)out + 16 * tap + 4 * v, by_tap.val[tap]);
      });
    });
}

// WidenPixelsFn for blocks of sixteen channels, 16 apart.
inline void widen_pixels(const uint8_t* from, size_t step, size_t pixels, size_t channels,
                         uint8_t flip, uint16_t* to) {
  uint8x16_t sign = vdupq_n_u8(flip);
  pin(sign);
  if (channels == 16) {
    OCTET_NO_UNROLL
    for (; pixels >= 4; pixels -= 4)
      __asm__ volatile(
          "ld1 {v16.16b}, [%0], %2\n ld1 {v17.16b}, [%0], %2\n"
          "ld1 {v18.16b}, [%0], %2\n ld1 {v19.16b}, [%0], %2\n"
          "eor v16.16b, v16.16b, %3.16b\n eor v17.16b, v17.16b, %3.16b\n"
          "eor v18.16b, v18.16b, %3.16b\n eor v19.16b, v19.16b, %3.16b\n"
          "sxtl v20.8h, v16.8b\n sxtl2 v21.8h, v16.16b\n"
          "sxtl v22.8h, v17.8b\n sxtl2 v23.8h, v17.16b\n"
          "sxtl v24.8h, v18.8b\n sxtl2 v25.8h, v18.16b\n"
          "sxtl v26.8h, v19.8b\n sxtl2 v27.8h, v19.16b\n"
          "st1 {v20.8h-v23.8h}, [%1], #64\n st1 {v24.8h-v27.8h}, [%1], #64"
          : "+r"(from), "+r"(to)
          : "r"(step), "w"(sign)
          : "memory", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26",
            "v27");
  }
  const auto load_part = [&]() {
    const uint64_t low = channels < 8 ? load_tail(from, channels) : load8(from),
                   high = channels > 8 ? load_tail(from + 8, channels - 8) : 0;
    return vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high)));
  };
  OCTET_NO_UNROLL
  for (; pixels; --pixels, from += step, to += 16) {
    const uint8x16_t bytes = channels == 16 ? vld1q_u8(from) : load_part();
    const int8x16_t p = vreinterpretq_s8_u8(veorq_u8(bytes, sign));
    vst1q_s16((int16_t*)to, vmovl_s8(vget_low_s8(p)));
    vst1q_s16((int16_t*)to + 8, vmovl_high_s8(p));
  }
}

#endif

}  // namespace
}  // namespace octet
