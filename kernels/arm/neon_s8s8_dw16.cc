// SPDX-License-Identifier: Apache-2.0
// Depthwise, s8 x s8 or s16 -> s32 or 8 bits for ARMv8.0, blocks of 16 channels.
//
// Pixels are not interleaved. Products of two taps are added in 16 bits, then to the 32-bit
// accumulator: SMULL, SMLAL, SADDW. Only (-128)^2 + (-128)^2 = 32768 does not fit 16 bits. A block
// of which a channel has two weights of -128 is prepared and multiplied as int16, so all are exact.
//
//       kept columns          new column     accumulators of a row
//     4 pixels  4 pixels       4 pixels           a[0..3]
//
// 16 registers of 32; weights come from memory.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/copied_5x5.h"
#include "kernels/arm/shared/depthwise_differences.h"
#include "kernels/arm/shared/depthwise_int16.h"
#include "kernels/arm/shared/intrinsics.h"
#include "kernels/generic/depthwise.h"
#include "kernels/generic/portable.h"

namespace octet {
namespace {

struct Neon : Sixteen {
  static constexpr int kColumn = 64, kWalkSets = 1;
  static constexpr bool kWholeGroups = true, kAcross = true;
  struct Column {
    int8x16_t p[4];
  };
  using Columns = InRegisters<Column>;

  // Init and scale stay in memory, because products need registers, too.
  struct Ends {
    const uint8_t* prepared;
    OCTET_INLINE inline explicit Ends(const uint8_t* p) : prepared(p) {}
    OCTET_INLINE inline Acc start() const {
      Acc acc;
      load_four((const int32_t*)prepared, acc.a);
      return acc;
    }
    OCTET_INLINE inline void load_scales(FloatScale (&by)[4]) const {
      float32x4_t scales[4];
      load_four((const float*)(prepared + 64), scales);
      unroll<4>([&](auto v) OCTET_INLINE { by[v] = {scales[v]}; });
    }
    OCTET_INLINE inline float32x4_t scale(int v) const {
      return vld1q_f32((const float*)(prepared + 64) + 4 * v);
    }
  };

  OCTET_INLINE static inline void fill(Column& column, const Pixel (&p)[4]) {
    column = {{p[0], p[1], p[2], p[3]}};
  }

  // GCC 12 would keep the halves of kept pixels in registers of their own; AArch32 has few.
  OCTET_INLINE static inline void settle([[maybe_unused]] Column& column) {
#if defined(__aarch64__)
    unroll<4>([&](auto i) OCTET_INLINE { pin(column.p[i]); });
#endif
  }

  OCTET_INLINE static inline void pair(Acc& acc, int8x16_t p0, int8x16_t p1, int8x16_t w0,
                                       int8x16_t w1) {
    int16x8_t low = multiply_low(p0, w0), high = multiply_high(p0, w0);
    multiply_add_low(low, p1, w1);
    multiply_add_high(high, p1, w1);
    acc.a[0] = vaddw_s16(acc.a[0], vget_low_s16(low));
    acc.a[1] = vaddw_high_s16(acc.a[1], low);
    acc.a[2] = vaddw_s16(acc.a[2], vget_low_s16(high));
    acc.a[3] = vaddw_high_s16(acc.a[3], high);
  }

  OCTET_INLINE static inline void one(Acc& acc, int8x16_t p, int8x16_t w) {
    const int16x8_t low = multiply_low(p, w), high = multiply_high(p, w);
    acc.a[0] = vaddw_s16(acc.a[0], vget_low_s16(low));
    acc.a[1] = vaddw_high_s16(acc.a[1], low);
    acc.a[2] = vaddw_s16(acc.a[2], vget_low_s16(high));
    acc.a[3] = vaddw_high_s16(acc.a[3], high);
  }

  OCTET_INLINE static inline void one(Acc& acc, Pixel p, const uint8_t* weights) {
    one(acc, p, load(weights));
  }

  template <int, int>
  OCTET_INLINE static inline void dot(Acc& acc, const Column& c, const uint8_t* weights) {
    const DepthwiseWeights<4> w(weights);
    pair(acc, c.p[0], c.p[1], w.val[0], w.val[1]);
    pair(acc, c.p[2], c.p[3], w.val[2], w.val[3]);
  }

  // Pairs go on from one column to the next.
  template <int first, typename... More>
  OCTET_INLINE static inline void dot_across(Acc& acc, const uint8_t* weights, const Column& c,
                                             const More&... more) {
    const DepthwiseWeights<3> w(weights);
    pair(acc, c.p[first], c.p[first + 1], w.val[0], w.val[1]);
    after_two<first>(acc, weights + kColumn, c.p[first + 2], w.val[2], more...);
  }
  template <int first>
  OCTET_INLINE static inline void after_two(Acc& acc, const uint8_t*, int8x16_t p, int8x16_t w) {
    one(acc, p, w);
  }
  template <int first, typename... More>
  OCTET_INLINE static inline void after_two(Acc& acc, const uint8_t* weights, int8x16_t p2,
                                            int8x16_t w2, const Column& c, const More&... more) {
    const DepthwiseWeights<3> w(weights);
    pair(acc, p2, c.p[first], w2, w.val[0]);
    pair(acc, c.p[first + 1], c.p[first + 2], w.val[1], w.val[2]);
    if constexpr (sizeof...(more) > 0) dot_across<first>(acc, weights + kColumn, more...);
  }

  template <bool flip, DepthwiseOutput kind>
  static void walk_by_2(const DepthwiseTile& t);

  // Distributes four taps of sixteen channels to the taps' places.
  OCTET_INLINE static inline void weights(const uint32_t* taps, uint8_t* to) {
    const uint8x16x4_t by_tap = vld4q_u8((const uint8_t*)taps);
    unroll<4>([&](auto tap) OCTET_INLINE { vst1q_u8(to + 16 * tap, by_tap.val[tap]); });
  }
};

#if defined(__aarch64__)
// The walk with stride 2: weights stay in registers, and the sum of a column that ends an output
// begins the next one. saturated: as Store::kSaturated.
template <bool flip, DepthwiseOutput kind, bool saturated>
__attribute__((noinline)) void walk_by_2_in_registers(const DepthwiseTile& t) {
  constexpr int lines = 3;
  const DepthwiseStore<Neon, kind> store(t);
  const Neon::Ends ends((const uint8_t*)t.prepared);
  const uint8_t* const weights = (const uint8_t*)t.prepared + Neon::kPrepared;
  const DepthwiseWeights<3> w0(weights), w1(weights + Neon::kColumn),
      w2(weights + 2 * Neon::kColumn);
  const int8x16_t sign = Neon::sign(t.flip);
  const size_t in_w = t.in_w, last = in_w - 1, dst_pixel = t.dst_pixel, dst_line = t.dst_line;
  const uint8_t* pixel[lines];
  size_t step[lines];
  using Pixels = int8x16_t[lines];
  const auto next = [&](bool exists, Pixels& p) OCTET_INLINE {
    if (__builtin_expect(exists, 1))
      unroll<lines>([&](auto i) OCTET_INLINE {
        load16_row(p[i], pixel[i], step[i]);
        if (flip) p[i] = Neon::flipped(p[i], sign);
      });
    else
      p[0] = p[1] = p[2] = flip ? Neon::flipped(Neon::load(t.zero), sign) : Neon::load(t.zero);
  };
  const auto begin = [&](Neon::Acc& acc, const Pixels& p) OCTET_INLINE {
    acc = ends.start();
    Neon::pair(acc, p[0], p[1], w0.val[0], w0.val[1]);
    Neon::one(acc, p[2], w0.val[2]);
  };
  const auto finish = [&](const Neon::Acc& acc, uint8_t* dst) OCTET_INLINE {
    if constexpr (saturated) {
      FloatScale by[4];
      ends.load_scales(by);
      vst1q_u8(dst, requantized<Store::kSaturated>(acc.a, by, store.requantization.n));
    } else {
      store(acc, ends, dst);
    }
  };
  const uint8_t* const* pixels = t.pixels;
  const size_t* steps = t.steps;
  uint8_t* first_dst = t.dst;
  const size_t first_column = t.first_column, columns_out = t.columns;
  for (size_t tiles = t.tiles; tiles; --tiles) {
    unroll<lines>([&](auto i) OCTET_INLINE { pixel[i] = pixels[i], step[i] = steps[i]; });
    pixels += 2, steps += 2;
    size_t column = first_column;
    uint8_t* dst = first_dst;
    first_dst += dst_line;
    Neon::Acc acc;
    Pixels a;
    next(column < in_w, a);
    begin(acc, a);
    ++column;
    OCTET_NO_UNROLL
    for (size_t x = columns_out; x; --x) {
      Pixels b, c;
      if (__builtin_expect(column < last, 1)) {
        next(true, b);
        next(true, c);
      } else {
        next(column < in_w, b);
        next(column + 1 < in_w, c);
      }
      column += 2;
      Neon::pair(acc, b[0], b[1], w1.val[0], w1.val[1]);
      Neon::pair(acc, b[2], c[0], w1.val[2], w2.val[0]);
      Neon::pair(acc, c[1], c[2], w2.val[1], w2.val[2]);
      finish(acc, dst);
      dst += dst_pixel;
      begin(acc, c);
    }
  }
}
#endif

template <bool flip, DepthwiseOutput kind>
void Neon::walk_by_2(const DepthwiseTile& t) {
#if defined(__aarch64__)
  if constexpr (kind == DepthwiseOutput::kFloat && !flip)
    if (t.requantization->hi - t.requantization->lo == 255)
      return walk_by_2_in_registers<flip, kind, true>(t);
  walk_by_2_in_registers<flip, kind, false>(t);
#else
  depthwise_walk<Neon, 1, 2, flip, kind>(t);
#endif
}

// The kernel of int16 weights; it widens pixels when it multiplies.
struct NeonInt16 : Neon {
  static constexpr int kColumn = 128;
  static constexpr bool kCopyPerSign = false, kAcross = false;

  OCTET_INLINE static inline void one(Acc& acc, int8x16_t p, const uint8_t* weights) {
    add(acc, vmovl_s8(vget_low_s8(p)), vmovl_high_s8(p), weights);
  }
  OCTET_INLINE static inline void add(Acc& acc, int16x8_t low, int16x8_t high,
                                      const uint8_t* weights) {
    const auto four = [&](int i)
                          OCTET_INLINE { return vld1q_s16((const int16_t*)weights + 8 * i); };
    const int16x8_t w0 = four(0), w1 = four(1);
    acc.a[0] = vmlal_s16(acc.a[0], vget_low_s16(low), vget_low_s16(w0));
    acc.a[1] = vmlal_high_s16(acc.a[1], low, w0);
    acc.a[2] = vmlal_s16(acc.a[2], vget_low_s16(high), vget_low_s16(w1));
    acc.a[3] = vmlal_high_s16(acc.a[3], high, w1);
  }

  template <int first, int count>
  OCTET_INLINE static inline void dot(Acc& acc, const Column& c, const uint8_t* weights) {
    unroll<count>([&](auto i) OCTET_INLINE { one(acc, c.p[first + i], weights + 32 * i); });
  }

  // Four taps of sixteen channels, of int8 or int16
  template <typename Taps>
  static inline void weights(const Taps* taps, uint8_t* to) {
    int16_t* const out = (int16_t*)to;
    OCTET_NO_UNROLL
    for (int i = 0; i < 64; ++i)
      out[i % 4 * 16 + i / 4] = sizeof *taps == 4 ? (int8_t)(taps[i / 4] >> i % 4 * 8)
                                                  : (int16_t)(taps[i / 4] >> i % 4 * 16);
  }
};

// Pixels that are s16 values already.
struct NeonS16 : NeonInt16 {
  static constexpr bool kLoadsAndSteps = false;
  struct Pixel {
    int16x8_t low, high;
  };
  struct Column {
    Pixel p[4];
  };
  using Columns = InRegisters<Column>;

  OCTET_INLINE static inline Pixel load(const uint8_t* p) {
    return {vreinterpretq_s16_u8(vld1q_u8(p)), vreinterpretq_s16_u8(vld1q_u8(p + 16))};
  }
  OCTET_INLINE static inline void fill(Column& column, const Pixel (&p)[4]) {
    column = {{p[0], p[1], p[2], p[3]}};
  }
  template <int first, int count>
  OCTET_INLINE static inline void dot(Acc& acc, const Column& c, const uint8_t* weights) {
    unroll<count>([&](auto i) OCTET_INLINE {
      add(acc, c.p[first + i].low, c.p[first + i].high, weights + 32 * i);
    });
  }
};

// Whether all pairs of products fit 16 bits: no channel has two weights of -128.
bool fits_pairs(const DepthwiseBlock& b) {
  const auto each = [&](const auto& use) {
    for (size_t g = 0; g < b.groups; ++g)
      unroll<4>([&](auto v) OCTET_INLINE {
        use(v, vld1q_s8((const int8_t*)b.weights + g * kDepthwiseGroup + 64 * v));
      });
  };
  int8x16_t least = vdupq_n_s8(0);
  each([&](auto, int8x16_t w) OCTET_INLINE { least = vminq_s8(least, w); });
  if (vminvq_s8(least) > -128) return true;
  int8x16_t counts[4];
  for (int8x16_t& count : counts) count = vdupq_n_s8(0);
  each([&](auto v, int8x16_t w) OCTET_INLINE {
    counts[v] = vqsubq_s8(counts[v], vreinterpretq_s8_u8(vceqq_s8(w, vdupq_n_s8(-128))));
  });
  for (const int8x16_t count : counts) {
    int32_t channels[4];
    vst1q_s32(channels, vpaddlq_s16(vpaddlq_s8(count)));
    for (const int32_t channel : channels)
      if (channel > 1) return false;
  }
  return true;
}

// Of the int16 kernel, from weights of int8 or int16. Taps: four of them.
template <typename Weight, typename Taps>
void prepare_int16(const DepthwiseBlock& b, void* prepared) {
#if defined(__aarch64__)
  uint8_t* const weights = (uint8_t*)prepared + Neon::kPrepared;
  if (b.loop != DepthwiseLoop::kTaps) {
    write_ends<Neon>(b, prepared);
    return is_walk(b.loop) ? write_int16<3, Weight>(b, weights)
                           : write_int16<4, Weight>(b, weights);
  }
#endif
  depthwise_prepare<NeonInt16, Taps>(b, prepared);
}

// widened: whether copied lines are int16
template <bool widened>
void multiply_int16(const DepthwiseTile& t) {
#if defined(__aarch64__)
  by_output(t, [&](auto kind) OCTET_INLINE {
    if (is_walk(t.loop)) return walk_int16<Neon, kind.value>(t);
    if (t.loop == DepthwiseLoop::kTaps)
      return t.rows > 1 ? depthwise_taps<NeonInt16, 2, true, kind.value>(t)
                        : depthwise_taps<NeonInt16, 1, true, kind.value>(t);
    (widened ? five_by_int16<Neon, kind.value> : multiply_copied<NeonInt16, kind.value>)(t);
  });
#else
  depthwise_multiply_or_copied<NeonInt16>(t);
#endif
}

#if defined(__aarch64__)
// Writes a walk's weights, tap by tap, unless one is -128. Small images spend little more than this
// on a block.
OCTET_INLINE inline bool write_walk(const DepthwiseBlock& b, uint8_t* out) {
  int8x16_t least = vdupq_n_s8(0);
  unroll<3>([&](auto column) OCTET_INLINE {
    int8x16_t w[4];  // the taps of four channels
    unroll<4>([&](auto v) OCTET_INLINE {
      w[v] = vld1q_s8((const int8_t*)b.weights + column * kDepthwiseGroup + 64 * v);
      least = vminq_s8(least, w[v]);
    });
    const int8x16_t even[2] = {vuzp1q_s8(w[0], w[1]), vuzp1q_s8(w[2], w[3])},
                    odd[2] = {vuzp2q_s8(w[0], w[1]), vuzp2q_s8(w[2], w[3])};
    int8_t* const to = (int8_t*)out + column * Neon::kColumn;
    vst1q_s8(to, vuzp1q_s8(even[0], even[1]));
    vst1q_s8(to + 16, vuzp1q_s8(odd[0], odd[1]));
    vst1q_s8(to + 32, vuzp2q_s8(even[0], even[1]));
    vst1q_s8(to + 48, vuzp2q_s8(odd[0], odd[1]));
  });
  return vminvq_s8(least) > -128;
}
#endif

void prepare(const DepthwiseBlock& b, void* prepared) {
#if defined(__aarch64__)
  const bool walks = b.loop == DepthwiseLoop::kWalk || b.loop == DepthwiseLoop::kWalkBy2;
  if (walks && write_walk(b, (uint8_t*)prepared + Neon::kPrepared)) {
    write_ends<Neon>(b, prepared);
    weights_as(prepared) = WeightsAs::kInt8;
    return;
  }
#endif
  const bool int16 = !fits_pairs(b);
  (int16 ? prepare_int16<int8_t, uint32_t> : depthwise_prepare<Neon>)(b, prepared);
  weights_as(prepared) = int16 ? WeightsAs::kInt16 : WeightsAs::kInt8;
}

void multiply(const DepthwiseTile& t) {
  (weights_as(t.prepared) == WeightsAs::kInt16 ? multiply_int16<false>
                                               : depthwise_multiply_or_copied<Neon>)(t);
}

#if defined(__aarch64__)

void prepare_differences(const DepthwiseBlock& b, void* prepared) {
  const bool int8 = b.loop != DepthwiseLoop::kCopied5x5 && are_int8(b);
  int8 ? prepare_int8<Neon>(b, prepared) : prepare_int16<int16_t, uint64_t>(b, prepared);
  weights_as(prepared) = int8 ? WeightsAs::kInt8 : WeightsAs::kInt16;
}

void multiply_differences(const DepthwiseTile& t) {
  (weights_as(t.prepared) == WeightsAs::kInt16 ? multiply_int16<true>
                                               : depthwise_multiply<Neon>)(t);
}

#endif

constexpr DepthwiseKernel neon_kernel(const DepthwiseKernel* s16) {
  DepthwiseKernel k = copied_5x5_kernel<Neon>("neon_s8s8_dw16", TierId::kNeon, s16);
  k.prepare = prepare;
  k.multiply = multiply;
  return k;
}

constexpr DepthwiseKernel neon_int16_kernel() {
  DepthwiseKernel k = sixteen_kernel<NeonInt16, uint64_t>("neon_s8s16_dw16", TierId::kNeon);
  k.copied_5x5 = true;
#if defined(__aarch64__)
  k.prepare = prepare_differences;
  k.multiply = multiply_differences;
  k.widen_5x5 = widen_pixels;
#else
  k.multiply = multiply_int16<false>;
#endif
  return k;
}

}  // namespace

const DepthwiseKernel neon_s16s8_full_dw16 =
    depthwise_s16_kernel<NeonS16, NeonInt16>("neon_s16s8_full_dw16", TierId::kNeon);

const DepthwiseKernel neon_s8s8_dw16 = neon_kernel(&neon_s16s8_full_dw16);

const DepthwiseKernel neon_s8s16_dw16 = neon_int16_kernel();

}  // namespace octet
