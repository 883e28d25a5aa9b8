// The loops of depthwise kernels, for every ISA that can dot four interleaved pixels with four weights.
//
// Four pixels of one column, one below the other, are interleaved byte by byte; a 32-bit lane then holds the column of one channel. A walk along a line
// keeps the last columns in registers, so that each is made once for all the outputs that need it; with stride 1 one column serves two
// output lines, because shifting the three weights by a byte moves the window down:
//
//         lanes                weights of row 0    of row 1
//      line 0   b0                  w0               0
//      line 1   b1                  w1               w0             outputs (y, x) and (y + 1, x) from columns x-1, x, x+1:
//      line 2   b2                  w2               w1             24 dot products of a full vector per 128 outputs' 1152 products
//      line 3   b3                  0                w2
//
// A Machine M says how on its registers: kChannels of a block; kPasses over it, each for 16 / kPasses bytes of every 16, where registers are
// few; kWalkRows and how many sets of weights they need (kWalkSets); bytes of a pass' init and scale (kPrepared) and of a column's weights (kColumn); and the types and functions used below.
#pragma once

#include "kernels/core/depthwise_kernel.h"
#include "kernels/core/unroll.h"

namespace octet {
namespace {

template <typename M, bool is_narrow>
struct DepthwiseExit {
  OCTET_INLINE inline explicit DepthwiseExit(const DepthwiseTile& t) : narrow(t) {}
  OCTET_INLINE inline void operator()(const typename M::Acc& acc, const typename M::Ends& ends, uint8_t* dst) const { narrow.store(acc, ends, dst); }
  typename M::Narrowing narrow;
};

template <typename M>
struct DepthwiseExit<M, false> {
  OCTET_INLINE inline explicit DepthwiseExit(const DepthwiseTile&) {}
  OCTET_INLINE inline void operator()(const typename M::Acc& acc, const typename M::Ends&, uint8_t* dst) const { M::store_s32(acc, dst); }
};

// One pass over a block.
struct DepthwisePass {
  size_t offset;  // of its first channel
  const uint8_t* prepared;
  uint8_t* dst;
};

// rows x 1 outputs per step; stride: columns per step.
template <typename M, int rows, int stride, bool flip, bool narrow>
OCTET_INLINE inline void depthwise_walk(const DepthwiseTile& t, const DepthwisePass& pass) {
  constexpr int lines = rows + 2;
  const DepthwiseExit<M, narrow> exit(t);
  const typename M::Ends ends(pass.prepared);
  const typename M::Pixel sign = M::sign(t.flip);
  const uint8_t* const weights = pass.prepared + M::kPrepared;
  const uint8_t* const zero = t.zero + pass.offset;
  const uint8_t* pixel[lines];
  unroll<lines>([&](auto i) OCTET_INLINE { pixel[i] = t.pixels[i] + pass.offset; });
  size_t column = t.first_column;
  const auto load = [&](const uint8_t* p) OCTET_INLINE { return flip ? M::flipped(M::load(p), sign) : M::load(p); };
  const auto next = [&]() OCTET_INLINE {
    typename M::Pixel p[4];
    if (__builtin_expect(column < t.in_w, 1)) {
      unroll<lines>([&](auto i) OCTET_INLINE {
        p[i] = load(pixel[i]);
        pixel[i] += t.steps[i];
      });
    } else {
      p[0] = p[1] = p[2] = load(zero);
      if constexpr (lines == 4) p[3] = p[0];
    }
    ++column;
    if constexpr (lines == 3) p[3] = p[2];  // its weight is 0
    return M::column(p);
  };
  const auto output = [&](const typename M::Column& a, const typename M::Column& b, const typename M::Column& c, uint8_t* dst) OCTET_INLINE {
    unroll<rows>([&](auto r) OCTET_INLINE {
      constexpr int set = M::kWalkSets > 1 ? 3 * r.value : 0;
      typename M::Acc acc = ends.start();
      M::template dot<r.value, 3>(acc, a, weights + (set + 0) * M::kColumn);
      M::template dot<r.value, 3>(acc, b, weights + (set + 1) * M::kColumn);
      M::template dot<r.value, 3>(acc, c, weights + (set + 2) * M::kColumn);
      exit(acc, ends, dst + r * t.dst_line);
    });
  };
  uint8_t* dst = pass.dst;
  typename M::Column a = next();
  if constexpr (stride == 1) {
    typename M::Column b = next();
    OCTET_NO_UNROLL
    for (size_t x = t.columns; x; --x, dst += t.dst_pixel) {
      const typename M::Column c = next();
      output(a, b, c, dst);
      a = b;
      b = c;
    }
  } else {
    OCTET_NO_UNROLL
    for (size_t x = t.columns; x; --x, dst += t.dst_pixel) {
      const typename M::Column b = next();
      const typename M::Column c = next();
      output(a, b, c, dst);
      a = c;
    }
  }
}

template <typename M, int rows, bool flip, bool narrow>
OCTET_INLINE inline void depthwise_taps(const DepthwiseTile& t, const DepthwisePass& pass) {
  const DepthwiseExit<M, narrow> exit(t);
  const typename M::Ends ends(pass.prepared);
  const typename M::Pixel sign = M::sign(t.flip);
  const auto load = [&](const uint8_t* p) OCTET_INLINE { return flip ? M::flipped(M::load(p), sign) : M::load(p); };
  const size_t set = t.set_groups * M::kColumn;
  uint8_t* dst = pass.dst;
  OCTET_NO_UNROLL
  for (size_t x = 0; x < t.columns; ++x, dst += t.dst_pixel) {
    typename M::Acc acc[rows];
    unroll<rows>([&](auto r) OCTET_INLINE { acc[r] = ends.start(); });
    const uint8_t* weights = pass.prepared + M::kPrepared;
    const uint8_t* const* pixel = t.pixels;
    const size_t* step = t.steps;
    OCTET_NO_UNROLL
    for (size_t groups = t.groups; groups; --groups, pixel += 4, step += 4, weights += M::kColumn) {
      typename M::Pixel p[4];
      unroll<4>([&](auto i) OCTET_INLINE { p[i] = load(pixel[i] + x * step[i] + pass.offset); });
      const typename M::Column column = M::column(p);
      unroll<rows>([&](auto r) OCTET_INLINE { M::template dot<0, 4>(acc[r], column, weights + r * set); });
    }
    unroll<rows>([&](auto r) OCTET_INLINE { exit(acc[r], ends, dst + r * t.dst_line); });
  }
}

// A function of its own for each loop, so that it has the registers to itself; one copy for both passes.
template <typename M, DepthwiseForm form, int rows, bool flip, bool narrow>
__attribute__((noinline)) void depthwise_passes(const DepthwiseTile& t) {
  DepthwisePass pass = {0, (const uint8_t*)t.prepared, t.dst};
  const size_t groups = form == DepthwiseForm::kTaps ? t.sets * t.set_groups : form == DepthwiseForm::kWalk ? 3 * M::kWalkSets : 3;
  int left = M::kPasses;
  if constexpr (M::kPasses > 1) __asm__("" : "+r"(left));
  do {
    if constexpr (form == DepthwiseForm::kTaps)
      depthwise_taps<M, rows, flip, narrow>(t, pass);
    else
      depthwise_walk<M, rows, form == DepthwiseForm::kWalk ? 1 : 2, flip, narrow>(t, pass);
    pass.offset += 16 / M::kPasses;
    pass.prepared += M::kPrepared + groups * M::kColumn;
    pass.dst += 16 / M::kPasses * (narrow ? 1 : sizeof(int32_t));
  } while (--left);
}

template <typename M, bool flip, bool narrow>
OCTET_INLINE inline void depthwise_form(const DepthwiseTile& t) {
  if (t.form == DepthwiseForm::kTaps && t.rows > 1) return depthwise_passes<M, DepthwiseForm::kTaps, 2, flip, narrow>(t);
  if (t.form == DepthwiseForm::kTaps) return depthwise_passes<M, DepthwiseForm::kTaps, 1, flip, narrow>(t);
  if (t.form == DepthwiseForm::kWalkBy2) return depthwise_passes<M, DepthwiseForm::kWalkBy2, 1, flip, narrow>(t);
  if constexpr (M::kWalkRows > 1)
    if (t.rows > 1) return depthwise_passes<M, DepthwiseForm::kWalk, 2, flip, narrow>(t);
  depthwise_passes<M, DepthwiseForm::kWalk, 1, flip, narrow>(t);
}

// The s32 exit is not worth two copies: its pixels are xor-ed always, with zeros maybe.
template <typename M>
void depthwise_multiply(const DepthwiseTile& t) {
  if (!t.narrow)
    depthwise_form<M, true, false>(t);
  else if (t.flip)
    depthwise_form<M, true, true>(t);
  else
    depthwise_form<M, false, true>(t);
}

alignas(64) constexpr uint8_t kNoWeights[kDepthwiseGroup] = {};

// The lanes' bytes moved up by `bits`, followed from below by those of the group before.
template <size_t bytes>
OCTET_INLINE inline void shifted(const uint8_t* group, const uint8_t* before, size_t bits, uint8_t* out) {
  uint32_t high[bytes / 4], low[bytes / 4];
  __builtin_memcpy(high, group, bytes);
  __builtin_memcpy(low, before, bytes);
  for (size_t i = 0; i < bytes / 4; ++i) high[i] = high[i] << bits | (low[i] >> 1) >> (31 - bits);
  __builtin_memcpy(out, high, bytes);
}

// Init and scale in the order of the accumulators, then the weights; per pass.
template <typename M>
void depthwise_prepare(const DepthwiseBlock& b, void* prepared) {
  constexpr size_t vectors = 4 / M::kPasses, quarter = M::kChannels;  // bytes of a vector
  uint8_t* out = (uint8_t*)prepared;
  const auto scatter = [&](const uint8_t* from, size_t vector) OCTET_INLINE {
    for (size_t lane = 0; lane < quarter; lane += 16, out += 16) __builtin_memcpy(out, from + 4 * lane + 16 * vector, 16);
  };
  for (size_t pass = 0; pass < M::kPasses; ++pass) {
    const size_t first = pass * vectors;
    for (size_t v = 0; v < vectors; ++v) scatter((const uint8_t*)b.init, first + v);
    if (b.scale)
      for (size_t v = 0; v < vectors; ++v) scatter((const uint8_t*)b.scale, first + v);
    else
      out += vectors * quarter;
    const size_t sets = b.form == DepthwiseForm::kWalk ? M::kWalkSets : b.sets;
    for (size_t set = 0; set < sets; ++set)
      for (size_t g = 0; g < b.set_groups; ++g, out += M::kColumn) {
        const size_t from = g - set * b.shift / 4, bits = set * b.shift % 4 * 8;
        const uint8_t* const group = (from < b.groups ? b.weights + from * kDepthwiseGroup : kNoWeights) + first * 64;
        const uint8_t* const before = (from - 1 < b.groups ? b.weights + (from - 1) * kDepthwiseGroup : kNoWeights) + first * 64;
        unroll<vectors>([&](auto v) OCTET_INLINE {
          alignas(64) uint8_t taps[quarter];
          shifted<quarter>(group + v * 64, before + v * 64, bits, taps);
          M::weights(taps, v, out);
        });
      }
  }
}

}  // namespace
}  // namespace octet
