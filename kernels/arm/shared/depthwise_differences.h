// SPDX-License-Identifier: Apache-2.0
// Depthwise weights that have zero points: differences of 9 bits, w - zero_point. A channel's
// differ by at most 255, so they are int8 after a factor of the channel is taken from each:
//
//     sum x (w' + f) = sum x w' + f * sum x
//
// Where all factors of a block are 0 it is one of int8. Walks of a 3x3 add the other ones:
//
//     columns a b c [d]     starts += f * (sum of column d - sum of column a)
//
// that is, the accumulators of output x + 1 start with the window's sum of output x, changed by the
// column that enters and the one that leaves.
#pragma once

#include "kernels/arm/shared/copied_5x5.h"

namespace octet {
namespace {

// How a block's weights were prepared: two bytes in front of the factors and weights.
enum class WeightsAs : uint8_t { kInt8, kInt16, kFactored, kSplit, kOther };
inline WeightsAs& weights_as(const void* prepared) {
  return *((WeightsAs*)prepared + Sixteen::kPrepared - 16);
}
// Of a kernel that leaves some blocks to one that tells by weights_as.
[[maybe_unused]] inline WeightsAs& differs_as(const void* prepared) {
  return *(&weights_as(prepared) + 1);
}

#if defined(__aarch64__)

// The factors of a block of a 3x3 lie behind its weights.
template <typename M>
inline int16_t* factors_of(const void* prepared) {
  return (int16_t*)((uint8_t*)prepared + M::kPrepared + 3 * M::kWalkSets * M::kColumn);
}

struct Factors {
  int16x8_t low, high;
  OCTET_INLINE inline explicit Factors(const int16_t* from)
      : low(vld1q_s16(from)), high(vld1q_s16(from + 8)) {}
  // Adds the factors times sums of pixels.
  OCTET_INLINE inline void add(int32x4_t (&acc)[4], int16x8_t sum_low, int16x8_t sum_high) const {
    acc[0] = vmlal_s16(acc[0], vget_low_s16(sum_low), vget_low_s16(low));
    acc[1] = vmlal_high_s16(acc[1], sum_low, low);
    acc[2] = vmlal_s16(acc[2], vget_low_s16(sum_high), vget_low_s16(high));
    acc[3] = vmlal_high_s16(acc[3], sum_high, high);
  }
};

// The input lines of a walk.
template <typename M, int lines>
struct WalkedLines {
  const uint8_t* pixel[lines];
  size_t step[lines], column;
  const size_t in_w;
  const uint8_t* const zero;
  const Loads<M, true> load;

  OCTET_INLINE inline explicit WalkedLines(const DepthwiseTile& t)
      : in_w(t.in_w), zero(t.zero), load(t) {}
  OCTET_INLINE inline void start(const uint8_t* const* pixels, const size_t* steps, size_t first) {
    unroll<lines>([&](auto i) OCTET_INLINE { pixel[i] = pixels[i], step[i] = steps[i]; });
    column = first;
  }
  // The last pixel twice where there are three: its weight is 0
  OCTET_INLINE inline void next(int8x16_t (&p)[4]) {
    if (__builtin_expect(column < in_w, 1)) {
      unroll<lines>([&](auto i) OCTET_INLINE { p[i] = load.next(pixel[i], step[i]); });
    } else {
      const int8x16_t none = load(zero);
      unroll<lines>([&](auto i) OCTET_INLINE { p[i] = none; });
    }
    if constexpr (lines == 3) p[3] = p[2];
    ++column;
  }
};

// Sums of columns of two rows' lines, and the starts of the accumulators of both rows.
struct WindowStarts {
  struct {
    alignas(64) int16_t columns[3][32];
    alignas(16) int16_t factors[16];
  } kept;
  alignas(64) int32_t starts[2][16];

  OCTET_INLINE inline explicit WindowStarts(const int16_t* factors) {
    __builtin_memcpy(kept.factors, factors, sizeof kept.factors);
  }
  OCTET_INLINE inline void restart(const void* init) {
    __builtin_memset(kept.columns, 0, sizeof kept.columns);
    unroll<2>([&](auto r) OCTET_INLINE { __builtin_memcpy(starts[r], init, 64); });
  }
  // Column `slot` leaves the window. Returns the start of row 1. In assembly, because compilers
  // copy what one ST1 is to store, and run out of registers.
  template <int slot>
  OCTET_INLINE inline Sixteen::Acc enter(const int8x16_t (&p)[4]) {
    register int32x4_t a __asm__("v16");
    register int32x4_t b __asm__("v17");
    register int32x4_t c __asm__("v18");
    register int32x4_t d __asm__("v19");
    __asm__(
        "saddl v20.8h, %7.8b, %8.8b\n saddl2 v21.8h, %7.16b, %8.16b\n"
        "ldp q16, q17, [%10, %12]\n ldp q18, q19, [%10, %12 + 32]\n"
        "saddw v22.8h, v20.8h, %6.8b\n saddw2 v23.8h, v21.8h, %6.16b\n"
        "saddw v24.8h, v20.8h, %9.8b\n saddw2 v25.8h, v21.8h, %9.16b\n"
        "ldp q20, q21, [%10, 192]\n"
        "stp q22, q23, [%10, %12]\n stp q24, q25, [%10, %12 + 32]\n"
        "sub v22.8h, v22.8h, v16.8h\n sub v23.8h, v23.8h, v17.8h\n"
        "sub v24.8h, v24.8h, v18.8h\n sub v25.8h, v25.8h, v19.8h\n"
        "ld1 {v16.4s, v17.4s, v18.4s, v19.4s}, [%11]\n"
        "smlal v16.4s, v22.4h, v20.4h\n smlal2 v17.4s, v22.8h, v20.8h\n"
        "smlal v18.4s, v23.4h, v21.4h\n smlal2 v19.4s, v23.8h, v21.8h\n"
        "st1 {v16.4s, v17.4s, v18.4s, v19.4s}, [%11]\n"
        "ld1 {v16.4s, v17.4s, v18.4s, v19.4s}, [%13]\n"
        "smlal v16.4s, v24.4h, v20.4h\n smlal2 v17.4s, v24.8h, v20.8h\n"
        "smlal v18.4s, v25.4h, v21.4h\n smlal2 v19.4s, v25.8h, v21.8h\n"
        "st1 {v16.4s, v17.4s, v18.4s, v19.4s}, [%13]"
        : "=&w"(a), "=&w"(b), "=&w"(c), "=&w"(d), "+m"(kept), "+m"(starts)
        : "w"(p[0]), "w"(p[1]), "w"(p[2]), "w"(p[3]), "r"(&kept), "r"(starts[0]), "n"(64 * slot),
          "r"(starts[1])
        : "v20", "v21", "v22", "v23", "v24", "v25");
    return {{a, b, c, d}};
  }
  OCTET_INLINE inline Sixteen::Acc first() {
    register int32x4_t a __asm__("v16");
    register int32x4_t b __asm__("v17");
    register int32x4_t c __asm__("v18");
    register int32x4_t d __asm__("v19");
    __asm__("ld1 {v16.4s, v17.4s, v18.4s, v19.4s}, [%4]"
            : "=w"(a), "=w"(b), "=w"(c), "=w"(d)
            : "r"(starts[0]), "m"(starts));
    return {{a, b, c, d}};
  }
};

// As depthwise_walk of two rows, the second of which is stored first. Columns take turns instead of
// moving to the next register.
template <typename M, DepthwiseOutput kind>
__attribute__((noinline)) void walk_factored(const DepthwiseTile& t) {
  const DepthwiseStore<M, kind> store(t);
  const typename M::Ends ends((const uint8_t*)t.prepared);
  const uint8_t* const weights = (const uint8_t*)t.prepared + M::kPrepared;
  const size_t dst_pixel = t.dst_pixel, dst_line = t.dst_line, columns = t.columns,
               end = t.first_column + 2 + columns;
  WalkedLines<M, 4> lines(t);
  WindowStarts window(factors_of<M>(t.prepared));
  uint8_t* dst;
  const auto output = [&](typename M::Column& a, typename M::Column& b, typename M::Column& c,
                          auto slot) OCTET_INLINE {
    int8x16_t p[4];
    M::settle(a), M::settle(b);
    lines.next(p);
    typename M::Acc acc = window.enter<slot.value>(p);
    M::fill(c, p);
    M::settle(c);
    dot_columns<M, 1>(acc, weights + 3 * (M::kWalkSets - 1) * M::kColumn, a, b, c);
    store(acc, ends, dst + dst_line);
    acc = window.first();
    dot_columns<M, 0>(acc, weights, a, b, c);
    store(acc, ends, dst);
    dst += dst_pixel;
  };
  const uint8_t* const* pixels = t.pixels;
  const size_t* steps = t.steps;
  uint8_t* first_dst = t.dst;
  for (size_t tiles = t.tiles; tiles; --tiles, first_dst += 2 * dst_line) {
    lines.start(pixels, steps, t.first_column);
    pixels += 2, steps += 2;
    dst = first_dst;
    window.restart(t.prepared);
    typename M::Column a, b, c;
    int8x16_t p[4];
    lines.next(p);
    window.enter<0>(p);
    M::fill(a, p);
    lines.next(p);
    window.enter<1>(p);
    M::fill(b, p);
    while (columns) {
      output(a, b, c, Int<2>{});
      if (lines.column == end) break;
      output(b, c, a, Int<0>{});
      if (lines.column == end) break;
      output(c, a, b, Int<1>{});
      if (lines.column == end) break;
    }
  }
}

// The same of one row: the second one, of a line of zero points, is overwritten.
inline void walk_rows(const DepthwiseTile& t, void (*walk)(const DepthwiseTile&)) {
  if (t.rows > 1) return walk(t);
  DepthwiseTile one = t;
  const uint8_t* pixels[] = {nullptr, nullptr, nullptr, t.zero};
  size_t steps[4] = {};
  one.pixels = pixels, one.steps = steps;
  one.tiles = 1, one.dst_line = 0;
  for (size_t tile = 0; tile < t.tiles; ++tile, one.dst += t.dst_line) {
    for (size_t i = 0; i < 3; ++i) pixels[i] = t.pixels[tile + i], steps[i] = t.steps[tile + i];
    walk(one);
  }
}

// Sums of a column's three lines.
struct ColumnSums {
  int16x8_t low, high;
  OCTET_INLINE inline explicit ColumnSums(const int8x16_t (&p)[4])
      : low(vaddw_s8(vaddl_s8(vget_low_s8(p[0]), vget_low_s8(p[1])), vget_low_s8(p[2]))),
        high(vaddw_high_s8(vaddl_high_s8(p[0], p[1]), p[2])) {}
};

// With stride 2, one row. A window's sum is multiplied in the end.
template <typename M, DepthwiseOutput kind>
__attribute__((noinline)) void walk_factored_by_2(const DepthwiseTile& t) {
  const DepthwiseStore<M, kind> store(t);
  const typename M::Ends ends((const uint8_t*)t.prepared);
  const uint8_t* const weights = (const uint8_t*)t.prepared + M::kPrepared;
  const Factors factors(factors_of<M>(t.prepared));
  WalkedLines<M, 3> lines(t);
  const size_t dst_pixel = t.dst_pixel;
  const uint8_t* const* pixels = t.pixels;
  const size_t* steps = t.steps;
  uint8_t* first_dst = t.dst;
  for (size_t tiles = t.tiles; tiles; --tiles, first_dst += t.dst_line) {
    lines.start(pixels, steps, t.first_column);
    pixels += 2, steps += 2;
    uint8_t* dst = first_dst;
    int8x16_t p[4];
    typename M::Column b, c;
    lines.next(p);
    ColumnSums first(p);
    M::fill(c, p);
    M::settle(c);
    typename M::Acc acc = ends.start();
    dot_columns<M, 0>(acc, weights, c);
    OCTET_NO_UNROLL
    for (size_t x = t.columns; x; --x, dst += dst_pixel) {
      lines.next(p);
      const ColumnSums second(p);
      M::fill(b, p);
      M::settle(b);
      lines.next(p);
      const ColumnSums third(p);
      M::fill(c, p);
      M::settle(c);
      dot_columns<M, 0>(acc, weights + M::kColumn, b, c);
      factors.add(acc.a, vaddq_s16(vaddq_s16(first.low, second.low), third.low),
                  vaddq_s16(vaddq_s16(first.high, second.high), third.high));
      store(acc, ends, dst);
      acc = ends.start();
      M::settle(c);
      dot_columns<M, 0>(acc, weights, c);
      first = third;
    }
  }
}

template <typename M, DepthwiseOutput kind>
void factored_form(const DepthwiseTile& t) {
  if constexpr (M::kFactorsBy2)
    if (t.loop == DepthwiseLoop::kWalkBy2) return walk_factored_by_2<M, kind>(t);
  walk_rows(t, walk_factored<M, kind>);
}

// Of blocks and tiles: whether outputs have 8 bits, and their mode.
inline bool stores_bytes(const DepthwiseBlock& b) { return b.scale && !b.to_floats; }
inline bool in_tflite_mode(const DepthwiseTile& t) {
  return t.requantization && t.requantization->tflite_apart;
}

// All bytes of pixels are flipped, maybe with zeros, and s32 and f32 have no walks: both save code.
template <typename M>
void multiply_factored(const DepthwiseTile& t) {
  in_tflite_mode(t) ? factored_form<M, DepthwiseOutput::kTflite>(t)
                    : factored_form<M, DepthwiseOutput::kFloat>(t);
}

// The differences of a block and their factors.
class Differences {
 public:
  // floor: the least weight that a kernel wants, -127 or -128
  Differences(const DepthwiseBlock& b, int16_t floor) : b_(b) {
    const int16x8_t zero = vdupq_n_s16(0);
    int16x8_t los[8], his[8];
    unroll<8>([&](auto i) OCTET_INLINE { los[i] = his[i] = zero; });
    OCTET_NO_UNROLL
    for (size_t g = 0; g < b.groups; ++g)
      unroll<8>([&](auto i) OCTET_INLINE {
        const int16x8_t w = at(g, i);
        los[i] = vminq_s16(los[i], w), his[i] = vmaxq_s16(his[i], w);
      });
    int16x8_t least = zero, most = zero, any = zero;
    unroll<2>([&](auto half) OCTET_INLINE {
      const int16x8_t *const l = los + 4 * half, *const h = his + 4 * half;
      const int16x8_t lo = vpminq_s16(vpminq_s16(l[0], l[1]), vpminq_s16(l[2], l[3])),
                      hi = vpmaxq_s16(vpmaxq_s16(h[0], h[1]), vpmaxq_s16(h[2], h[3]));
      // The factor next to 0 that leaves no more than 127, and no less than the floor if both go
      const int16x8_t f = vmaxq_s16(vsubq_s16(hi, vdupq_n_s16(127)),
                                    vminq_s16(zero, vsubq_s16(lo, vdupq_n_s16(floor))));
      factors_[half] = f;
      any = vorrq_s16(any, f);
      least = vminq_s16(least, vsubq_s16(lo, f));
      most = vmaxq_s16(most, hi);
      // Walks leave the fourth slot of a column empty. With other loops no factor is taken.
      const int16x8_t pairs[] = {vzip1q_s16(f, f), vzip2q_s16(f, f)};
      unroll<4>([&](auto i) OCTET_INLINE {
        const int32x4_t pair = vreinterpretq_s32_s16(pairs[i / 2]);
        const int32x4_t four = i % 2 ? vzip2q_s32(pair, pair) : vzip1q_s32(pair, pair);
        taken_[4 * half + i] = vandq_s16(vreinterpretq_s16_s32(four), vld1q_s16(kTakes));
      });
    });
    least_ = vminvq_s16(least);
    most_ = vmaxvq_s16(most);
    factored_ = vmaxvq_u16(vreinterpretq_u16_s16(any)) != 0;
  }

  // Less their factors, in int8. Zero points leave no others.
  bool fit() const { return least_ >= -128 && b_.groups <= kMostGroups; }
  bool factored() const { return factored_; }
  // Whether sums of two int8 reach all
  bool split() const { return most_ < 255 && b_.groups <= kMostGroups; }
  // Whether a channel has two of -128, as NEON's pairs of products may not
  bool has_two_least() const {
    if (least_ > -128) return false;
    OCTET_NO_UNROLL
    for (int i = 0; i < 8; ++i) {
      int16x8_t counts = vdupq_n_s16(0);
      OCTET_NO_UNROLL
      for (size_t g = 0; g < b_.groups; ++g)
        counts = vaddq_s16(counts, vreinterpretq_s16_u16(vceqq_s16(less(g, i), vdupq_n_s16(-128))));
      const int64x2_t channels = vpaddlq_s32(vpaddlq_s16(counts));
      if (vgetq_lane_s64(channels, 0) < -1 || vgetq_lane_s64(channels, 1) < -1) return true;
    }
    return false;
  }

  // Prepares a block less its factors, and them.
  template <typename M>
  void prepare(void* prepared) const {
    prepare_int8<M>(prepared, 0, taken_);
    int16_t* const to = factors_of<M>(prepared);
    if (factored_) unroll<2>([&](auto i) OCTET_INLINE { vst1q_s16(to + 8 * i, factors_[i]); });
  }
  // Prepares a block of one set as sums of two int8: all halves, then what they leave.
  template <typename M>
  void prepare_split(void* prepared) const {
    static constexpr int16x8_t kNone[8] = {};
    prepare_int8<M>(prepared, -1, kNone);
    int8_t* to = (int8_t*)prepared + M::kPrepared + b_.groups * M::kColumn;
    OCTET_NO_UNROLL
    for (size_t g = 0; g < b_.groups; ++g, to += M::kColumn)
      unroll<4>([&](auto v) OCTET_INLINE {
        const int16x8_t low = at(g, 2 * v), high = at(g, 2 * v + 1);
        vst1q_s8(to + 16 * v, vcombine_s8(vmovn_s16(vsubq_s16(low, vshrq_n_s16(low, 1))),
                                          vmovn_s16(vsubq_s16(high, vshrq_n_s16(high, 1)))));
      });
  }

 private:
  static constexpr size_t kMostGroups = 16;  // a 7x7 has 13
  static constexpr int16_t kTakes[] = {-1, -1, -1, 0, -1, -1, -1, 0};

  static size_t place(size_t group, int i) {
    return group * kDepthwiseGroup + (size_t)i / 2 * 64 + (size_t)i % 2 * 8;
  }
  int16x8_t at(size_t group, int i) const {
    return vld1q_s16((const int16_t*)b_.weights + place(group, i));
  }
  int16x8_t less(size_t group, int i) const { return vsubq_s16(at(group, i), taken_[i]); }

  // Prepares weights as int8, shifted left, less `taken`.
  template <typename M>
  void prepare_int8(void* prepared, int16_t shift, const int16x8_t (&taken)[8]) const {
    alignas(64) int8_t weights[kMostGroups * kDepthwiseGroup];
    OCTET_NO_UNROLL
    for (size_t g = 0; g < b_.groups; ++g)
      unroll<8>([&](auto i) OCTET_INLINE {
        const int16x8_t w = vshlq_s16(at(g, i), vdupq_n_s16(shift));
        vst1_s8(weights + place(g, i), vmovn_s16(vsubq_s16(w, taken[i])));
      });
    DepthwiseBlock block = b_;
    block.weights = (const uint8_t*)weights;
    depthwise_prepare<M>(block, prepared);
  }

  const DepthwiseBlock& b_;
  int16x8_t factors_[2], taken_[8];  // of two channels each, four times
  int16_t least_, most_;
  bool factored_;
};

#endif

}  // namespace
}  // namespace octet
