// SPDX-License-Identifier: Apache-2.0
// Depthwise weights that have zero points: differences of 9 bits, w - zero_point. A channel's
// differ by at most 255, so they are int8 after a factor of the channel is taken from each:
//
//     sum x (w' + f) = sum x w' + f * sum x
//
// A block whose differences are int8 is one of int8. DOTPROD's walk of a 3x3 with stride 1 adds
// factors, all other loops multiply int16 (depthwise_int16.h). Two neighbours share the products of
// two columns with the factors:
//
//     columns a b c d     shared = init + f * (b + c),  shared + f * a,  shared + f * d
#pragma once

#include "kernels/arm/shared/depthwise_int16.h"

namespace octet {
namespace {

// How a block's weights were prepared: two bytes in front of the weights.
enum class WeightsAs : uint8_t { kInt8, kInt16, kFactored };
inline WeightsAs& weights_as(const void* prepared) {
  return *((WeightsAs*)prepared + Sixteen::kPrepared - 16);
}
// Of a kernel that leaves some blocks to one that tells by weights_as.
[[maybe_unused]] inline WeightsAs& differs_as(const void* prepared) {
  return *(&weights_as(prepared) + 1);
}

#if defined(__aarch64__)

// The input lines of a walk. Of four, the last one is of a second row, if there is one.
template <typename M, int lines, bool flip>
struct WalkedLines {
  const uint8_t* pixel[4];
  size_t step[4], column;
  const size_t in_w, rows;
  const uint8_t* const zero;
  const Loads<M, flip> load;

  OCTET_INLINE inline explicit WalkedLines(const DepthwiseTile& t)
      : in_w(t.in_w), rows(t.rows), zero(t.zero), load(t) {}
  OCTET_INLINE inline void start(const uint8_t* const* pixels, const size_t* steps, size_t first) {
    unroll<3>([&](auto i) OCTET_INLINE { pixel[i] = pixels[i], step[i] = steps[i]; });
    pixel[3] = zero, step[3] = 0;
    if (rows > 1) pixel[3] = pixels[3], step[3] = steps[3];
    column = first;
  }
  OCTET_INLINE inline void next(typename M::Column& to) {
    int8x16_t p[4];
    if (__builtin_expect(column < in_w, 1))
      unroll<lines>([&](auto i) OCTET_INLINE { p[i] = load.next(pixel[i], step[i]); });
    else
      p[0] = p[1] = p[2] = p[3] = load(zero);
    ++column;
    if constexpr (lines == 3) p[3] = p[2];  // its weight is 0
    M::fill(to, p);
    unroll<4>([&](auto i) OCTET_INLINE { pin(to.t[i]); });
  }
};

// Assembly, because compilers copy what one load or store needs in neighbouring registers. Dot
// products of a column with four of them:
#define OCTET_DOT(sum, column, w) "sdot v" sum ".4s, %[" column "].16b, v" w ".16b\n "
#define OCTET_DOT_EVEN(column)      \
  OCTET_DOT("16", column "0", "20") \
  OCTET_DOT("17", column "1", "21") \
  OCTET_DOT("18", column "2", "22") OCTET_DOT("19", column "3", "23")
#define OCTET_DOT_ODD(column)       \
  OCTET_DOT("16", column "0", "24") \
  OCTET_DOT("17", column "1", "25") \
  OCTET_DOT("18", column "2", "26") OCTET_DOT("19", column "3", "27")
#define OCTET_LOAD_EVEN "ld1 {v20.16b, v21.16b, v22.16b, v23.16b}, [%[weights]], #64\n "
#define OCTET_LOAD_ODD "ld1 {v24.16b, v25.16b, v26.16b, v27.16b}, [%[weights]], #64\n "
#define OCTET_SUMS(move, at) move " {v16.4s, v17.4s, v18.4s, v19.4s}, [%[" at "]]\n "
#define OCTET_FIRST                                                      \
  OCTET_SUMS("ld1", "init")                                              \
  OCTET_LOAD_EVEN OCTET_LOAD_ODD OCTET_DOT_EVEN("b") OCTET_DOT_EVEN("c") \
      OCTET_SUMS("st1", "shared") OCTET_DOT_EVEN("a")
#define OCTET_SECOND OCTET_SUMS("ld1", "shared") OCTET_LOAD_EVEN OCTET_LOAD_ODD OCTET_DOT_EVEN("c")
#define OCTET_OUTPUT(name, start)                                                                  \
  OCTET_INLINE inline Sixteen::Acc name(const int8x16_t(&a)[4], const int8x16_t(&b)[4],            \
                                        const int8x16_t(&c)[4], const uint8_t* init,               \
                                        const uint8_t*& weights, int32_t(&shared)[16]) {           \
    register int32x4_t x0 __asm__("v16"), x1 __asm__("v17"), x2 __asm__("v18"), x3 __asm__("v19"); \
    __asm__(start OCTET_LOAD_EVEN OCTET_DOT_ODD("a") OCTET_LOAD_ODD OCTET_DOT_EVEN("b")            \
                OCTET_DOT_ODD("c")                                                                 \
            : "=&w"(x0), "=&w"(x1), "=&w"(x2), "=&w"(x3), [weights] "+r"(weights), "+m"(shared)    \
            : [a0] "w"(a[0]), [a1] "w"(a[1]), [a2] "w"(a[2]), [a3] "w"(a[3]), [b0] "w"(b[0]),      \
              [b1] "w"(b[1]), [b2] "w"(b[2]), [b3] "w"(b[3]), [c0] "w"(c[0]), [c1] "w"(c[1]),      \
              [c2] "w"(c[2]), [c3] "w"(c[3]), [init] "r"(init), [shared] "r"(shared)               \
            : "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27");                             \
    return {{x0, x1, x2, x3}};                                                                     \
  }
// The sums of the output of columns a, b and c, by a row's factors and weights, past which they
// advance. The first one keeps what the second one shares, whose columns begin with b.
OCTET_OUTPUT(first_output, OCTET_FIRST)
OCTET_OUTPUT(second_output, OCTET_SECOND)
#undef OCTET_OUTPUT
#undef OCTET_SECOND
#undef OCTET_FIRST
#undef OCTET_SUMS
#undef OCTET_LOAD_ODD
#undef OCTET_LOAD_EVEN
#undef OCTET_DOT_ODD
#undef OCTET_DOT_EVEN
#undef OCTET_DOT

// Prepared: for each of two rows the factors, then the weights of three columns.
template <typename M>
constexpr size_t kFactoredRow = 4 * M::kColumn;

// As depthwise_walk of one or two rows.
template <typename M, bool flip, DepthwiseOutput kind, bool saturates>
__attribute__((noinline)) void walk_factored(const DepthwiseTile& t) {
  const WalkStore<M, kind, saturates> store(t);
  const uint8_t *const init = (const uint8_t*)t.prepared, *const weights = init + M::kPrepared;
  const typename M::Ends ends(init);
  const size_t rows = t.rows, dst_pixel = t.dst_pixel, dst_line = t.dst_line, columns = t.columns;
  WalkedLines<M, 4, flip> lines(t);
  alignas(64) int32_t shared[2][16];
  uint8_t* dst;
  const auto output = [&](const auto& of_row) OCTET_INLINE {
    const uint8_t* w = weights;
    store(of_row(w, shared[0]), ends, dst);
    if (rows > 1) store(of_row(w, shared[1]), ends, dst + dst_line);
    dst += dst_pixel;
  };
  const uint8_t* const* pixels = t.pixels;
  const size_t* steps = t.steps;
  uint8_t* first_dst = t.dst;
  for (size_t tiles = t.tiles; tiles; --tiles, first_dst += rows * dst_line) {
    lines.start(pixels, steps, t.first_column);
    pixels += rows, steps += rows;
    dst = first_dst;
    typename M::Column a, b, c;
    lines.next(a);
    lines.next(b);
    for (size_t x = columns;;) {
      lines.next(c);
      output([&](const uint8_t*& w, int32_t(&kept)[16])
                 OCTET_INLINE { return first_output(a.t, b.t, c.t, init, w, kept); });
      if (!--x) break;
      lines.next(a);
      output([&](const uint8_t*& w, int32_t(&kept)[16])
                 OCTET_INLINE { return second_output(b.t, c.t, a.t, init, w, kept); });
      if (!--x) break;
      b = a, a = c;
    }
  }
}

// The same of one row with stride 2. The two new columns are two vectors of four taps, whose second
// one begins the next output, too:
//
//     columns a b c    b0 b1 b2 c2    c0 c1 b2 c2
template <typename M, bool flip, DepthwiseOutput kind, bool saturates>
__attribute__((noinline)) void walk_factored_by_2(const DepthwiseTile& t) {
  using Lines = WidenedLines<flip>;
  using Pixels = typename Lines::Pixels;
  using Column = typename M::Column;
  const WalkStore<M, kind, saturates> store(t);
  const uint8_t *const init = (const uint8_t*)t.prepared, *const weights = init + M::kPrepared;
  const typename M::Ends ends(init);
  const DepthwiseWeights<4> of_two(weights), of_three(weights + M::kColumn);
  const size_t dst_pixel = t.dst_pixel, dst_line = t.dst_line, columns = t.columns;
  Lines lines(t);
  Sixteen::Acc acc;
  const auto add = [&](const Column& x, const DepthwiseWeights<4>& w) OCTET_INLINE {
    unroll<4>([&](auto v) OCTET_INLINE { acc.a[v] = vdotq_s32(acc.a[v], x.t[v], w.val[v]); });
  };
  const auto begin = [&](const Column& x) OCTET_INLINE {
    load_start(Int<0>{}, init, acc);
    add(x, of_three);
    M::template dot<0, 4>(acc, x, weights + 2 * M::kColumn);
  };
  const uint8_t* const* pixels = t.pixels;
  const size_t* steps = t.steps;
  uint8_t* first_dst = t.dst;
  for (size_t line = t.tiles; line; --line, first_dst += dst_line, pixels += 2, steps += 2) {
    lines.start(pixels, steps, t.first_column);
    uint8_t* dst = first_dst;
    Pixels b, c;
    Column x, y;
    lines.load_if(lines.column < lines.in_w, c);
    lines.pass(1);
    lines.flip_all(c);
    M::fill(x, {c[0], c[1], c[2], c[2]});
    begin(x);
    OCTET_NO_UNROLL
    for (size_t left = columns; left; --left, dst += dst_pixel) {
      lines.load_two(b, c);
      lines.flip_all(b);
      lines.flip_all(c);
      M::fill(x, {b[0], b[1], b[2], c[2]});
      M::fill(y, {c[0], c[1], b[2], c[2]});
      add(x, of_two);
      M::template dot<0, 4>(acc, x, weights + 3 * M::kColumn);
      add(y, of_two);
      M::template dot<0, 4>(acc, y, weights + 4 * M::kColumn);
      store(acc, ends, dst);
      begin(y);
    }
  }
}

template <typename M>
void multiply_factored(const DepthwiseTile& t) {
  by_output(t, [&](auto kind) OCTET_INLINE {
    const bool by_2 = t.loop == DepthwiseLoop::kWalkBy2;
    if constexpr (kind.value == DepthwiseOutput::kFloat)
      if (!t.flip && saturates_s8(*t.requantization))
        return (by_2 ? walk_factored_by_2<M, false, kind.value, true>
                     : walk_factored<M, false, kind.value, true>)(t);
    if constexpr (kind.value == DepthwiseOutput::kSumsOrFloats)
      if (by_2 && !t.flip) return walk_factored_by_2<M, false, kind.value, false>(t);
    (by_2 ? walk_factored_by_2<M, true, kind.value, false>
          : walk_factored<M, true, kind.value, false>)(t);
  });
}

constexpr size_t kMostGroups = 16;  // of differences in int8: a 7x7 has 13

// Two vectors of a group's differences: the four slots of four channels.
inline int16x8x2_t differences(const DepthwiseBlock& b, size_t group, int i) {
  const int16_t* const from = (const int16_t*)b.weights + group * kDepthwiseGroup + 64 * i;
  return {{vld1q_s16(from), vld1q_s16(from + 8)}};
}
// The same of int8.
inline int8x16_t low_bytes(const int16x8x2_t& d) {
  return vuzp1q_s8(vreinterpretq_s8_s16(d.val[0]), vreinterpretq_s8_s16(d.val[1]));
}

// Whether a block's differences are from -127 to 127.
inline bool are_int8(const DepthwiseBlock& b) {
  if (b.groups > kMostGroups) return false;
  int16x8_t most = vdupq_n_s16(0);
  OCTET_NO_UNROLL
  for (size_t g = 0; g < b.groups; ++g)
    unroll<4>([&](auto i) OCTET_INLINE {
      const int16x8x2_t d = differences(b, g, i);
      most = vmaxq_s16(most, vmaxq_s16(vabsq_s16(d.val[0]), vabsq_s16(d.val[1])));
    });
  return vmaxvq_s16(most) <= 127;
}

// Prepares a block in int8.
template <typename M>
inline void prepare_int8(const DepthwiseBlock& b, void* prepared) {
  alignas(64) int8_t weights[kMostGroups * kDepthwiseGroup];
  OCTET_NO_UNROLL
  for (size_t g = 0; g < b.groups; ++g)
    unroll<4>([&](auto i) OCTET_INLINE {
      vst1q_s8(weights + g * kDepthwiseGroup + 64 * i, low_bytes(differences(b, g, i)));
    });
  DepthwiseBlock block = b;
  block.weights = (const uint8_t*)weights;
  depthwise_prepare<M>(block, prepared);
}

// The factors of a block of a 3x3: those next to 0.
class Factors {
 public:
  explicit Factors(const DepthwiseBlock& b) : b_(b) {
    int16x8_t lo[8], hi[8];
    unroll<8>([&](auto i) OCTET_INLINE { lo[i] = hi[i] = vdupq_n_s16(0); });
    OCTET_NO_UNROLL
    for (size_t g = 0; g < 3; ++g)
      unroll<8>([&](auto i) OCTET_INLINE {
        const int16x8_t d = differences(b, g, i / 2).val[i % 2];
        lo[i] = vminq_s16(lo[i], d), hi[i] = vmaxq_s16(hi[i], d);
      });
    int8x8_t factors[2];
    unroll<2>([&](auto half) OCTET_INLINE {
      const int16x8_t *const l = lo + 4 * half, *const h = hi + 4 * half;
      const int16x8_t least = vpminq_s16(vpminq_s16(l[0], l[1]), vpminq_s16(l[2], l[3])),
                      most = vpmaxq_s16(vpmaxq_s16(h[0], h[1]), vpmaxq_s16(h[2], h[3])),
                      f = vmaxq_s16(vsubq_s16(most, vdupq_n_s16(127)),
                                    vminq_s16(vdupq_n_s16(0), vsubq_s16(least, vdupq_n_s16(-128))));
      factors[half] = vmovn_s16(f);
      any_ |= vmaxvq_s16(vabsq_s16(f));
      fit_ &= vminvq_s16(vsubq_s16(least, f)) >= -128 && vmaxvq_s16(f) <= 127;
    });
    const int8x16_t f = vcombine_s8(factors[0], factors[1]);
    const int16x8_t twice[] = {vreinterpretq_s16_s8(vzip1q_s8(f, f)),
                               vreinterpretq_s16_s8(vzip2q_s8(f, f))};
    unroll<4>([&](auto i) OCTET_INLINE {
      const int16x8_t t = twice[i / 2];
      of_row_[i] = vandq_u32(vreinterpretq_u32_s16(i % 2 ? vzip2q_s16(t, t) : vzip1q_s16(t, t)),
                             vdupq_n_u32(0xFFFFFF));
    });
  }

  // Whether a channel has one.
  bool any() const { return any_; }
  // Whether they, and differences less them, are int8. Zero points of -128 have a factor of 128 if
  // a weight is 127.
  bool fit() const { return fit_; }

  // Prepares the block for walk_factored. The second row's weights are a line below.
  template <typename M>
  void prepare(void* prepared) const {
    write_ends<M>(b_, prepared);
    uint32_t* const to = (uint32_t*)((uint8_t*)prepared + M::kPrepared);
    const auto write = [&](size_t at, uint32x4_t w) OCTET_INLINE {
      vst1q_u32(to + at, w);
      vst1q_u32(to + kFactoredRow<M> / 4 + at, vshlq_n_u32(w, 8));
    };
    unroll<4>([&](auto i) OCTET_INLINE {
      write(4 * i, of_row_[i]);
      unroll<3>([&](auto g) OCTET_INLINE { write(16 * (g + 1) + 4 * i, weights(g, i)); });
    });
  }
  // The same for walk_factored_by_2.
  template <typename M>
  void prepare_by_2(void* prepared) const {
    write_ends<M>(b_, prepared);
    uint32_t* const to = (uint32_t*)((uint8_t*)prepared + M::kPrepared);
    unroll<4>([&](auto i) OCTET_INLINE {
      const uint32x4_t f = of_row_[i], of_two = vandq_u32(f, vdupq_n_u32(0xFFFF)),
                       a = weights(0, i), c = weights(2, i);
      vst1q_u32(to + 4 * i, of_two);
      vst1q_u32(to + 16 + 4 * i, vsliq_n_u32(of_two, f, 24));
      vst1q_u32(to + 32 + 4 * i,
                vsliq_n_u32(vandq_u32(a, vdupq_n_u32(0xFFFF)), vshrq_n_u32(a, 16), 24));
      vst1q_u32(to + 48 + 4 * i, vsliq_n_u32(weights(1, i), vshrq_n_u32(c, 16), 24));
      vst1q_u32(to + 64 + 4 * i, vsliq_n_u32(c, of_two, 16));
    });
  }

 private:
  // Of a column's window, of four channels, less the factors.
  uint32x4_t weights(size_t column, int four) const {
    return vreinterpretq_u32_s8(
        vsubq_s8(low_bytes(differences(b_, column, four)), vreinterpretq_s8_u32(of_row_[four])));
  }

  const DepthwiseBlock& b_;
  uint32x4_t of_row_[4];  // of four channels each, in the slots of the window's three lines
  bool any_ = false, fit_ = true;
};

#endif

}  // namespace
}  // namespace octet
