// SPDX-License-Identifier: Apache-2.0
// Depthwise weights that have zero points: differences of 9 bits, w - zero_point. A channel's
// differ by at most 255, so they are int8 after a factor of the channel is taken from each:
//
//     sum x (w' + f) = sum x w' + f * sum x
//
// A block whose differences are int8 is one of int8. DOTPROD's walk of a 3x3 with stride 1 adds
// factors, all other loops multiply int16 (depthwise_int16.h):
//
//     columns a b c [d]     starts += f * (sum of column d - sum of column a)
//
// that is, the accumulators of output x + 1 start with the window's sum of output x, changed by the
// column that enters and the one that leaves.
#pragma once

#include "kernels/arm/shared/copied_5x5.h"

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

// The factors of a block of a 3x3 lie behind its weights.
template <typename M>
inline int16_t* factors_of(const void* prepared) {
  return (int16_t*)((uint8_t*)prepared + M::kPrepared + 3 * M::kWalkSets * M::kColumn);
}

// The input lines of a walk by two rows.
template <typename M>
struct WalkedLines {
  const uint8_t* pixel[4];
  size_t step[4], column;
  const size_t in_w;
  const uint8_t* const zero;
  const Loads<M, true> load;

  OCTET_INLINE inline explicit WalkedLines(const DepthwiseTile& t)
      : in_w(t.in_w), zero(t.zero), load(t) {}
  OCTET_INLINE inline void start(const uint8_t* const* pixels, const size_t* steps, size_t first) {
    unroll<4>([&](auto i) OCTET_INLINE { pixel[i] = pixels[i], step[i] = steps[i]; });
    column = first;
  }
  OCTET_INLINE inline void next(int8x16_t (&p)[4]) {
    if (__builtin_expect(column < in_w, 1))
      unroll<4>([&](auto i) OCTET_INLINE { p[i] = load.next(pixel[i], step[i]); });
    else
      p[0] = p[1] = p[2] = p[3] = load(zero);
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
  WalkedLines<M> lines(t);
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

// Of blocks and tiles: whether outputs have 8 bits, and their mode.
inline bool stores_bytes(const DepthwiseBlock& b) { return b.scale && !b.to_floats; }
inline bool in_tflite_mode(const DepthwiseTile& t) {
  return t.requantization && t.requantization->tflite_apart;
}

// All bytes of pixels are flipped, maybe with zeros, and s32 and f32 have no walks: both save code.
template <typename M>
void multiply_factored(const DepthwiseTile& t) {
  walk_rows(t, in_tflite_mode(t) ? walk_factored<M, DepthwiseOutput::kTflite>
                                 : walk_factored<M, DepthwiseOutput::kFloat>);
}

constexpr size_t kMostGroups = 16;  // of differences in int8: a 7x7 has 13

// Where vector i of eight differences lies.
constexpr size_t place(size_t group, int i) {
  return group * kDepthwiseGroup + (size_t)i / 2 * 64 + (size_t)i % 2 * 8;
}
inline int16x8_t difference(const DepthwiseBlock& b, size_t group, int i) {
  return vld1q_s16((const int16_t*)b.weights + place(group, i));
}

// Whether a block's differences are from -127 to 127.
inline bool are_int8(const DepthwiseBlock& b) {
  if (b.groups > kMostGroups) return false;
  int16x8_t most = vdupq_n_s16(0);
  OCTET_NO_UNROLL
  for (size_t g = 0; g < b.groups; ++g)
    unroll<8>([&](auto i) OCTET_INLINE { most = vmaxq_s16(most, vabsq_s16(difference(b, g, i))); });
  return vmaxvq_s16(most) <= 127;
}

// Prepares a block less `taken`, in int8.
template <typename M>
inline void prepare_int8(const DepthwiseBlock& b, const int16x8_t (&taken)[8], void* prepared) {
  alignas(64) int8_t weights[kMostGroups * kDepthwiseGroup];
  OCTET_NO_UNROLL
  for (size_t g = 0; g < b.groups; ++g)
    unroll<8>([&](auto i) OCTET_INLINE {
      vst1_s8(weights + place(g, i), vmovn_s16(vsubq_s16(difference(b, g, i), taken[i])));
    });
  DepthwiseBlock block = b;
  block.weights = (const uint8_t*)weights;
  depthwise_prepare<M>(block, prepared);
}
template <typename M>
inline void prepare_int8(const DepthwiseBlock& b, void* prepared) {
  static constexpr int16x8_t kNone[8] = {};
  prepare_int8<M>(b, kNone, prepared);
}

// The factors of a block of a 3x3. A walk leaves the fourth slot of a column empty.
class Differences {
 public:
  explicit Differences(const DepthwiseBlock& b) : b_(b) {
    const int16x8_t zero = vdupq_n_s16(0);
    int16x8_t los[8], his[8];
    unroll<8>([&](auto i) OCTET_INLINE { los[i] = his[i] = zero; });
    OCTET_NO_UNROLL
    for (size_t g = 0; g < b.groups; ++g)
      unroll<8>([&](auto i) OCTET_INLINE {
        const int16x8_t w = difference(b, g, i);
        los[i] = vminq_s16(los[i], w), his[i] = vmaxq_s16(his[i], w);
      });
    int16x8_t least = zero;
    unroll<2>([&](auto half) OCTET_INLINE {
      const int16x8_t *const l = los + 4 * half, *const h = his + 4 * half;
      const int16x8_t lo = vpminq_s16(vpminq_s16(l[0], l[1]), vpminq_s16(l[2], l[3])),
                      hi = vpmaxq_s16(vpmaxq_s16(h[0], h[1]), vpmaxq_s16(h[2], h[3]));
      // The factor next to 0 that leaves no more than 127, and no less than -128 if both go
      const int16x8_t f = vmaxq_s16(vsubq_s16(hi, vdupq_n_s16(127)),
                                    vminq_s16(zero, vsubq_s16(lo, vdupq_n_s16(-128))));
      factors_[half] = f;
      least = vminq_s16(least, vsubq_s16(lo, f));
      const int16x8_t pairs[] = {vzip1q_s16(f, f), vzip2q_s16(f, f)};
      unroll<4>([&](auto i) OCTET_INLINE {
        const int32x4_t pair = vreinterpretq_s32_s16(pairs[i / 2]);
        const int32x4_t four = i % 2 ? vzip2q_s32(pair, pair) : vzip1q_s32(pair, pair);
        taken_[4 * half + i] = vandq_s16(vreinterpretq_s16_s32(four), vld1q_s16(kTakes));
      });
    });
    fit_ = vminvq_s16(least) >= -128;
  }

  // Less their factors, in int8. Zero points leave no others.
  bool fit() const { return fit_; }

  // Prepares a block less its factors, and them.
  template <typename M>
  void prepare(void* prepared) const {
    prepare_int8<M>(b_, taken_, prepared);
    int16_t* const to = factors_of<M>(prepared);
    unroll<2>([&](auto i) OCTET_INLINE { vst1q_s16(to + 8 * i, factors_[i]); });
  }

 private:
  static constexpr int16_t kTakes[] = {-1, -1, -1, 0, -1, -1, -1, 0};

  const DepthwiseBlock& b_;
  int16x8_t factors_[2], taken_[8];  // of two channels each, four times
  bool fit_;
};

#endif

}  // namespace
}  // namespace octet
