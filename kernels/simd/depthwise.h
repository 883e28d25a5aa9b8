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
  OCTET_INLINE inline void operator()(const typename M::Acc& acc, uint8_t* dst, int pass, const uint8_t* prepared) const {
    narrow.store(acc, dst, pass, prepared);
  }
  typename M::Narrowing narrow;
};

template <typename M>
struct DepthwiseExit<M, false> {
  OCTET_INLINE inline explicit DepthwiseExit(const DepthwiseTile&) {}
  OCTET_INLINE inline void operator()(const typename M::Acc& acc, uint8_t* dst, int pass, const uint8_t*) const { M::store_s32(acc, dst, pass); }
};

// rows x 1 outputs per step; stride: columns per step.
template <typename M, int rows, int stride, bool flip, bool narrow>
void depthwise_walk(const DepthwiseTile& t) {
  constexpr int lines = rows + 2;
  const DepthwiseExit<M, narrow> exit(t);
  const uint8_t* prepared = (const uint8_t*)t.prepared;
  OCTET_NO_UNROLL
  for (int pass = 0; pass < M::kPasses; ++pass) {
    const uint8_t* pixel[lines];
    unroll<lines>([&](auto i) OCTET_INLINE { pixel[i] = t.pixels[i] + pass * 8; });
    const uint8_t* const zero = t.zero + pass * 8;
    size_t column = t.first_column;
    const auto next = [&]() OCTET_INLINE {
      typename M::Pixel p[4];
      if (__builtin_expect(column < t.in_w, 1)) {
        unroll<lines>([&](auto i) OCTET_INLINE {
          p[i] = M::template load<flip>(pixel[i]);
          pixel[i] += t.steps[i];
        });
      } else {
        p[0] = p[1] = p[2] = M::template load<flip>(zero);
        if constexpr (lines == 4) p[3] = p[0];
      }
      ++column;
      if constexpr (lines == 3) p[3] = p[2];  // its weight is 0
      return M::column(p);
    };
    const uint8_t* const weights = prepared + M::kPrepared;
    const auto output = [&](const typename M::Column& a, const typename M::Column& b, const typename M::Column& c, uint8_t* dst) OCTET_INLINE {
      unroll<rows>([&](auto r) OCTET_INLINE {
        typename M::Acc acc = M::init(prepared);
        constexpr int set = M::kWalkSets > 1 ? 3 * r.value : 0;
        M::template dot<r.value, 3>(acc, a, weights + (set + 0) * M::kColumn);
        M::template dot<r.value, 3>(acc, b, weights + (set + 1) * M::kColumn);
        M::template dot<r.value, 3>(acc, c, weights + (set + 2) * M::kColumn);
        exit(acc, dst + r * t.dst_line, pass, prepared);
      });
    };
    uint8_t* dst = t.dst;
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
    prepared += M::kPrepared + (stride == 1 ? M::kWalkSets : 1) * 3 * M::kColumn;
  }
}

template <typename M, bool flip, bool narrow>
void depthwise_taps(const DepthwiseTile& t) {
  const DepthwiseExit<M, narrow> exit(t);
  const uint8_t* prepared = (const uint8_t*)t.prepared;
  for (int pass = 0; pass < M::kPasses; ++pass) {
    uint8_t* dst = t.dst;
    for (size_t x = 0; x < t.columns; ++x, dst += t.dst_pixel) {
      typename M::Acc acc = M::init(prepared);
      const uint8_t* weights = prepared + M::kPrepared;
      const uint8_t* const* pixel = t.pixels;
      const size_t* step = t.steps;
      OCTET_NO_UNROLL
      for (size_t groups = t.groups; groups; --groups, pixel += 4, step += 4, weights += M::kColumn) {
        typename M::Pixel p[4];
        unroll<4>([&](auto i) OCTET_INLINE { p[i] = M::template load<flip>(pixel[i] + x * step[i] + pass * 8); });
        M::template dot<0, 4>(acc, M::column(p), weights);
      }
      exit(acc, dst, pass, prepared);
    }
    prepared += M::kPrepared + t.groups * M::kColumn;
  }
}

template <typename M, bool flip, bool narrow>
OCTET_INLINE inline void depthwise_form(const DepthwiseTile& t) {
  if (t.form == DepthwiseForm::kTaps) return depthwise_taps<M, flip, narrow>(t);
  if (t.form == DepthwiseForm::kWalkBy2) return depthwise_walk<M, 1, 2, flip, narrow>(t);
  if constexpr (M::kWalkRows > 1)
    if (t.rows > 1) return depthwise_walk<M, 2, 1, flip, narrow>(t);
  depthwise_walk<M, 1, 1, flip, narrow>(t);
}

template <typename M>
void depthwise_multiply(const DepthwiseTile& t) {
  if (t.narrow)
    t.flip ? depthwise_form<M, true, true>(t) : depthwise_form<M, false, true>(t);
  else
    t.flip ? depthwise_form<M, true, false>(t) : depthwise_form<M, false, false>(t);
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
    for (int row = 0; row < (b.form == DepthwiseForm::kWalk ? M::kWalkSets : 1); ++row)
      for (size_t g = 0; g < b.groups; ++g) {
        for (size_t v = 0; v < vectors; ++v) M::weights(b.weights + g * kDepthwiseGroup + (first + v) * 64, row, v, out);
        out += M::kColumn;
      }
  }
}

}  // namespace
}  // namespace octet
