// SPDX-License-Identifier: Apache-2.0
// The loops of depthwise kernels, for every ISA that can dot four interleaved pixels with four
// weights.
//
// Four pixels of one column, one below the other, are interleaved byte by byte, so that a 32-bit
// lane holds the column of one channel. A walk along a line keeps the last columns in registers, so
// each is made once for all outputs that need it. With stride 1 one column serves two output lines,
// because shifting the three weights by a byte moves the window down:
//
//         lanes                weights of row 0    of row 1
//      line 0   b0                  w0               0
//      line 1   b1                  w1               w0
//      line 2   b2                  w2               w1
//      line 3   b3                  0                w2
//
// Outputs (y, x) and (y + 1, x) from columns x-1, x, x+1: 24 dot products of a full vector per 128
// outputs' 1152 products.
//
// A Machine M describes the ISA:
//   kChannels     channels of a block
//   kWalkSets     sets of weights that the two rows of a walk need
//   kTogether     whether both rows' accumulators are updated side by side
//   kCopyPerSign  whether lhs bytes that need no flip have a copy of the code
//   kPrepared     bytes of init and scale
//   kColumn       bytes of a column's weights
//   kWholeGroups  whether `weights` takes all vectors of a group at once
//   kAcross       whether `dot_across` multiplies several columns at once; `settle` then makes
//                 compilers forget what they know of a column, and `walk_by_2` walks
//   kLoadsAndSteps  whether `load_and_step` loads a pixel and points at the next by one instruction
//   kShuffles     whether accumulators are not in the order of channels: TFLite mode then goes
//                 through memory, and the scales include all of its rows
//   kFloats       whether a machine that shuffles stores Floats, too
//   kAdds         whether it has Adds, which add a residual, and Requantizing knows TFLite's floats
//   Columns       holds the last three columns, in registers or, where those are few, in memory
// and the types and functions used below.
#pragma once

#include "kernels/core/parts.h"
#include "kernels/generic/depthwise_store.h"

namespace octet {
namespace {

// The columns of a machine with registers for them.
template <typename Column>
struct InRegisters {
  OCTET_INLINE inline Column at(int) const { return {}; }
};

// The columns of a machine M with too few registers for them. M::each calls use(i, vector) for
// vector i of a column of two interleaved pairs of pixels; M stores and loads a vector, and
// dot_vector multiplies it by its weights.
template <typename M, int column_bytes, int vector_bytes>
struct ColumnsInMemory {
  static constexpr int kColumn = column_bytes, kWalkSets = 2;
  static constexpr bool kTogether = true, kCopyPerSign = false, kWholeGroups = false,
                        kAcross = false, kLoadsAndSteps = false, kShuffles = true,
                        kWalks5x5 = false, kFloats = false, kAdds = false;
  struct Column {
    uint8_t* at;
  };
  struct Columns {
    alignas(vector_bytes) uint8_t bytes[3][column_bytes];
    OCTET_INLINE inline Column at(int i) { return {bytes[i]}; }
  };

  template <typename Pixel>
  OCTET_INLINE static inline void fill(Column& column, const Pixel (&p)[4]) {
    M::each_of(
        p, [&](auto i, auto t) OCTET_INLINE { M::store_vector(t, column.at + vector_bytes * i); });
  }
  template <typename Acc, int rows>
  OCTET_INLINE static inline void dot_rows(Acc (&acc)[rows], const Column& column,
                                           const uint8_t* weights, size_t set) {
    unroll<column_bytes / vector_bytes>([&](auto i) OCTET_INLINE {
      dot_all(acc, i, M::load_vector(column.at + vector_bytes * i), weights, set);
    });
  }
  template <typename Acc, int rows, typename Pixel>
  OCTET_INLINE static inline void dot_pixels(Acc (&acc)[rows], const Pixel (&p)[4],
                                             const uint8_t* weights, size_t set) {
    M::each_of(p, [&](auto i, auto t) OCTET_INLINE { dot_all(acc, i, t, weights, set); });
  }
  // Of the pixels of a column. A machine whose pixels are no bytes has its own.
  template <typename Pixel, typename Use>
  OCTET_INLINE static inline void each_of(const Pixel (&p)[4], const Use& use) {
    M::each(M::pair(p[0], p[1]), M::pair(p[2], p[3]), use);
  }

 private:
  template <typename Acc, int rows, typename Vector>
  OCTET_INLINE static inline void dot_all(Acc (&acc)[rows], int i, Vector t, const uint8_t* weights,
                                          size_t set) {
    unroll<rows>([&](auto r) OCTET_INLINE { M::dot_vector(acc[r], i, t, weights + r * set); });
  }
};

// Loads pixels; with `flip`, in the sign that the kernel wants.
template <typename M, bool flip>
struct Loads {
  using Pixel = typename M::Pixel;
  OCTET_INLINE inline explicit Loads(const DepthwiseTile& t) {
    if constexpr (flip) sign = M::sign(t.flip);
  }
  OCTET_INLINE inline Pixel operator()(const uint8_t* p) const { return signed_(M::load(p)); }
  // Advances p by `step` bytes.
  OCTET_INLINE inline Pixel next(const uint8_t*& p, size_t step) const {
    if constexpr (M::kLoadsAndSteps) {
      return signed_(M::load_and_step(p, step));
    } else {
      const Pixel pixel = (*this)(p);
      p += step;
      return pixel;
    }
  }

 private:
  OCTET_INLINE inline Pixel signed_(Pixel p) const {
    if constexpr (flip)
      return M::flipped(p, sign);
    else
      return p;
  }
  Pixel sign;
};

// Adds the products of the lines first, first + 1 and first + 2 of adjacent columns.
template <typename M, int first, typename... Columns>
OCTET_INLINE inline void dot_columns(typename M::Acc& acc, const uint8_t* weights,
                                     const Columns&... columns) {
  if constexpr (M::kAcross)
    M::template dot_across<first>(acc, weights, columns...);
  else
    ((M::template dot<first, 3>(acc, columns, weights), weights += M::kColumn), ...);
}

// The same of a machine with kTogether, for all rows.
template <typename M, int rows, typename... Columns>
OCTET_INLINE inline void dot_rows(typename M::Acc (&acc)[rows], const uint8_t* weights, size_t set,
                                  const Columns&... columns) {
  ((M::dot_rows(acc, columns, weights, set), weights += M::kColumn), ...);
}

// The next column overwrites c.
template <int stride, typename Column>
OCTET_INLINE inline void shift(Column& a, Column& b, Column& c) {
  const Column oldest = a;
  a = stride == 1 ? b : c;
  if constexpr (stride == 1) b = c;
  c = oldest;
}

template <typename M, int rows, typename Store, typename Column>
OCTET_INLINE inline void make_rows(const Store& store, const typename M::Ends& ends,
                                   const uint8_t* weights, [[maybe_unused]] size_t set,
                                   uint8_t* dst, size_t dst_line, const Column& a, const Column& b,
                                   const Column& c) {
  if constexpr (M::kTogether) {
    typename M::Acc acc[rows];
    unroll<rows>([&](auto r) OCTET_INLINE { acc[r] = ends.start(); });
    dot_rows<M>(acc, weights, set, a, b, c);
    unroll<rows>([&](auto r) OCTET_INLINE { store(acc[r], ends, dst + r * dst_line); });
  } else {
    unroll<rows>([&](auto r) OCTET_INLINE {
      typename M::Acc acc = ends.start();
      dot_columns<M, r.value>(acc, weights + r * set, a, b, c);
      store(acc, ends, dst + r * dst_line);
    });
  }
}

// Makes rows x 1 outputs per step of `stride` columns, tile below tile. Each instance is a function
// of its own, so that its loop has all registers. ahead: a column that ends an output begins the
// next one. turns: columns take turns, so that none is copied.
template <typename M, int rows, int stride, bool flip, DepthwiseOutput kind>
__attribute__((noinline)) void depthwise_walk(const DepthwiseTile& t) {
  constexpr int lines = rows + 2;
  const DepthwiseStore<M, kind> store(t);
  const typename M::Ends ends((const uint8_t*)t.prepared);
  const uint8_t* const weights = (const uint8_t*)t.prepared + M::kPrepared;
  const uint8_t* pixel[lines];
  size_t step[lines], column;
  const size_t in_w = t.in_w, dst_pixel = t.dst_pixel, dst_line = t.dst_line;
  const Loads<M, flip> load(t);
  const auto next = [&](typename M::Column& to) OCTET_INLINE {
    typename M::Pixel p[4];
    if (__builtin_expect(column < in_w, 1)) {
      unroll<lines>([&](auto i) OCTET_INLINE { p[i] = load.next(pixel[i], step[i]); });
    } else {
      p[0] = p[1] = p[2] = load(t.zero);
      if constexpr (lines == 4) p[3] = p[0];
    }
    ++column;
    if constexpr (lines == 3) p[3] = p[2];  // its weight is 0
    M::fill(to, p);
    if constexpr (M::kTogether) M::settle(to);
  };
  typename M::Columns columns;
  typename M::Column a = columns.at(0), b = columns.at(1), c = columns.at(2);
  uint8_t* dst;
  [[maybe_unused]] constexpr size_t set = M::kWalkSets > 1 ? 3 * M::kColumn : 0;
  constexpr bool ahead = stride == 2 && !M::kTogether;
  constexpr bool turns = stride == 1 && M::kAcross && !flip && kind == DepthwiseOutput::kFloat;
  [[maybe_unused]] typename M::Acc begun;
  [[maybe_unused]] const auto begin = [&](const typename M::Column& first) OCTET_INLINE {
    if constexpr (ahead) {
      begun = ends.start();
      dot_columns<M, 0>(begun, weights, first);
    }
  };
  const auto output = [&](const typename M::Column& a, const typename M::Column& b,
                          const typename M::Column& c) OCTET_INLINE {
    if constexpr (ahead) {
      dot_columns<M, 0>(begun, weights + M::kColumn, b, c);
      store(begun, ends, dst);
    } else {
      make_rows<M, rows>(store, ends, weights, set, dst, dst_line, a, b, c);
    }
    dst += dst_pixel;
  };
  const uint8_t* const* pixels = t.pixels;
  const size_t* steps = t.steps;
  uint8_t* first_dst = t.dst;
  const size_t first_column = t.first_column, columns_out = t.columns;
  for (size_t tiles = t.tiles; tiles; --tiles) {
    unroll<lines>([&](auto i) OCTET_INLINE { pixel[i] = pixels[i], step[i] = steps[i]; });
    pixels += rows * stride, steps += rows * stride;
    column = first_column;
    dst = first_dst;
    first_dst += rows * dst_line;
    next(a);
    if constexpr (ahead) begin(a);
    if constexpr (stride == 1) next(b);
    for (size_t x = columns_out; turns;) {
      if constexpr (turns) M::settle(a), M::settle(b);
      next(c), output(a, b, c);
      if (!--x) break;
      next(a), output(b, c, a);
      if (!--x) break;
      next(b), output(c, a, b);
      if (!--x) break;
    }
    OCTET_NO_UNROLL
    for (size_t x = turns ? 0 : columns_out; x; --x) {
      if constexpr (stride == 1 && M::kAcross) M::settle(a), M::settle(b);
      if constexpr (stride == 2) next(b);
      next(c);
      output(a, b, c);
      if constexpr (ahead)
        begin(c);
      else
        shift<stride>(a, b, c);
    }
  }
}

template <typename M, int rows, bool flip, DepthwiseOutput kind>
__attribute__((noinline)) void depthwise_taps(const DepthwiseTile& t) {
  const DepthwiseStore<M, kind> store(t);
  const typename M::Ends ends((const uint8_t*)t.prepared);
  const Loads<M, flip> load(t);
  const size_t set = t.set_groups * M::kColumn;
  uint8_t* dst = t.dst;
  OCTET_NO_UNROLL
  for (size_t x = 0; x < t.columns; ++x, dst += t.dst_pixel) {
    typename M::Acc acc[rows];
    unroll<rows>([&](auto r) OCTET_INLINE { acc[r] = ends.start(); });
    const uint8_t* weights = (const uint8_t*)t.prepared + M::kPrepared;
    const uint8_t* const* pixel = t.pixels;
    const size_t* step = t.steps;
    OCTET_NO_UNROLL
    for (size_t groups = t.groups; groups; --groups, pixel += 4, step += 4, weights += M::kColumn) {
      typename M::Pixel p[4];
      unroll<4>([&](auto i) OCTET_INLINE { p[i] = load(pixel[i] + x * step[i]); });
      if constexpr (M::kTogether) {
        M::dot_pixels(acc, p, weights, set);
      } else {
        typename M::Column column;
        M::fill(column, p);
        unroll<rows>(
            [&](auto r) OCTET_INLINE { M::template dot<0, 4>(acc[r], column, weights + r * set); });
      }
    }
    unroll<rows>([&](auto r) OCTET_INLINE { store(acc[r], ends, dst + r * t.dst_line); });
  }
}

template <typename M, int stride, bool flip, DepthwiseOutput kind>
void depthwise_walk_5x5(const DepthwiseTile& t);  // depthwise_5x5.h
template <typename M, typename Taps>
void write_weights_5x5(const DepthwiseBlock& b, uint8_t* out);

// kind: of the 3x3 walk by two rows; walks: of other 3x3 walks; others: of all other loops.
template <typename M, bool flip, DepthwiseOutput kind, DepthwiseOutput others = kind,
          DepthwiseOutput walks = others>
OCTET_INLINE inline void depthwise_form(const DepthwiseTile& t) {
  const bool two = t.rows > 1;
  switch (t.loop) {
    case DepthwiseLoop::kTaps:
      return two ? depthwise_taps<M, 2, flip, others>(t) : depthwise_taps<M, 1, flip, others>(t);
    case DepthwiseLoop::kWalk:
      return two ? depthwise_walk<M, 2, 1, flip, kind>(t) : depthwise_walk<M, 1, 1, flip, walks>(t);
    case DepthwiseLoop::kWalkBy2:
      if constexpr (M::kAcross) return M::template walk_by_2<flip, walks>(t);
      if constexpr (flip && M::kCopyPerSign && walks == DepthwiseOutput::kSumsOrFloats)
        if (!t.flip) return depthwise_walk<M, 1, 2, false, walks>(t);
      return depthwise_walk<M, 1, 2, flip, walks>(t);
    case DepthwiseLoop::kWalk5x5:
      if constexpr (M::kWalks5x5) depthwise_walk_5x5<M, 1, flip, others>(t);
      return;
    case DepthwiseLoop::kWalk5x5By2:
      if constexpr (M::kWalks5x5) depthwise_walk_5x5<M, 2, flip, others>(t);
      return;
    case DepthwiseLoop::kCopied5x5: return;  // only kernels with another `multiply`
  }
}

// Of walks of 3x3 with a residual.
template <typename M>
OCTET_INLINE inline void depthwise_adds(const DepthwiseTile& t) {
  constexpr DepthwiseOutput kind = DepthwiseOutput::kAdds;
  if (t.loop == DepthwiseLoop::kWalkBy2) return depthwise_walk<M, 1, 2, true, kind>(t);
  return t.rows > 1 ? depthwise_walk<M, 2, 1, true, kind>(t)
                    : depthwise_walk<M, 1, 1, true, kind>(t);
}

// Without kCopyPerSign all pixels are xor-ed, maybe with zeros. This costs a few per cent of the
// time and saves a third of the code.
template <typename M>
void depthwise_multiply(const DepthwiseTile& t) {
  using Kind = DepthwiseOutput;
  constexpr Kind others = M::kShuffles ? Kind::kSumsOrFloat : Kind::kFloat,
                 walks = M::kShuffles ? Kind::kAny : Kind::kFloat;
  if constexpr (M::kAdds)
    if (t.adds) return depthwise_adds<M>(t);
  if constexpr (M::kShuffles) {
    if (!t.requantization || t.requantization->to_floats)
      return depthwise_form<M, true, Kind::kSums, others, walks>(t);
  } else {
    if (!t.requantization || t.requantization->to_floats)
      return depthwise_form<M, true, Kind::kSumsOrFloats>(t);
    if (t.requantization->tflite_apart) return depthwise_form<M, true, Kind::kTflite>(t);
  }
  if constexpr (M::kCopyPerSign)
    if (!t.flip) return depthwise_form<M, false, Kind::kFloat, others, walks>(t);
  depthwise_form<M, true, Kind::kFloat, others, walks>(t);
}

alignas(64) constexpr uint8_t kNoWeights[kDepthwiseGroup * sizeof(int16_t)] = {};

// Shifts the lanes' taps up by `bits` and fills in the group before from below.
template <size_t lanes, typename Taps>
OCTET_INLINE inline void shifted(const uint8_t* group, const uint8_t* before, size_t bits,
                                 Taps* out) {
  Taps low[lanes];
  __builtin_memcpy(out, group, sizeof low);
  if (!bits) return;
  __builtin_memcpy(low, before, sizeof low);
  for (size_t i = 0; i < lanes; ++i)
    out[i] = out[i] << bits | (low[i] >> 1) >> (8 * sizeof(Taps) - 1 - bits);
}

// Writes a block's weights, set by set. Taps holds four taps of a channel, as int8 or int16.
template <typename M, typename Taps>
void write_weights(const DepthwiseBlock& b, uint8_t* out) {
  constexpr size_t bytes = M::kChannels;  // bytes of a vector
  constexpr size_t size = sizeof(Taps) / 4, group_bytes = kDepthwiseGroup * size;
  const size_t sets = b.loop == DepthwiseLoop::kWalk ? M::kWalkSets : b.sets;
  for (size_t set = 0; set < sets; ++set)
    for (size_t g = 0; g < b.set_groups; ++g, out += M::kColumn) {
      const size_t from = g - set * b.shift / 4, bits = set * b.shift % 4 * 8 * size;
      const uint8_t* const group = from < b.groups ? b.weights + from * group_bytes : kNoWeights;
      const uint8_t* const before =
          from - 1 < b.groups ? b.weights + (from - 1) * group_bytes : kNoWeights;
      alignas(64) Taps taps[4][bytes / 4];
      unroll<4>([&](auto v) OCTET_INLINE {
        shifted<bytes / 4>(group + v * 64 * size, before + v * 64 * size, bits, taps[v]);
        if constexpr (!M::kWholeGroups) M::weights(taps[v], v, out);
      });
      if constexpr (M::kWholeGroups) M::weights(taps[0], out);
    }
}

template <typename M, typename Taps = uint32_t>
void depthwise_prepare(const DepthwiseBlock& b, void* prepared) {
  write_ends<M>(b, prepared);
  if constexpr (M::kWalks5x5)
    if (is_5x5(b.loop)) return write_weights_5x5<M, Taps>(b, (uint8_t*)prepared + M::kPrepared);
  write_weights<M, Taps>(b, (uint8_t*)prepared + M::kPrepared);
}

// Prepares int16 weights for machines whose multiply-add takes two int16 from each lane: the first
// two taps of a group for a vector's channels, then the other two.
template <size_t lanes>
inline void split_pairs(const uint64_t* groups, uint8_t* to) {
  uint32_t pairs[2][lanes];
  for (size_t c = 0; c < lanes; ++c)
    pairs[0][c] = (uint32_t)groups[c], pairs[1][c] = (uint32_t)(groups[c] >> 32);
  __builtin_memcpy(to, pairs, sizeof pairs);
}

// Makes the kernel constant of M, for weights of int8 or, with Taps = uint64_t, int16.
template <typename M, typename Taps = uint32_t>
constexpr DepthwiseKernel depthwise_kernel(const char* name, TierId tier_id, ElementType lhs,
                                           uint16_t flags,
                                           [[maybe_unused]] const DepthwiseKernel* s16,
                                           void (*requantize)(const DepthwiseRaw&) = nullptr) {
  DepthwiseKernel k = {};
  k.name = name;
  k.tier_id = tier_id;
  k.lhs_element_type = lhs;
  k.flags = flags;
  k.layout = depthwise_layout(sizeof(Taps) / 4);
  k.channels = k.reach = M::kChannels;
  k.rows = k.walk_rows = 2;
  k.walks_tiles = true;
  k.adds = M::kAdds;
  if constexpr (M::kShuffles) k.tflite_floats = M::kAdds;
  k.walks_5x5 = M::kWalks5x5;
  k.s16 = OCTET_IF(INT16, s16, nullptr);
  k.prepare = depthwise_prepare<M, Taps>;
  k.multiply = depthwise_multiply<M>;
  k.requantize = requantize;
  return k;
}

// A kernel of an M that multiplies s16 values by int8 weights, which it reads as Weights lays them
// out. kind: kSums, or kS16 of an M that finishes s16 values.
template <typename M, typename Weights, DepthwiseOutput kind = DepthwiseOutput::kSums>
constexpr DepthwiseKernel depthwise_s16_kernel(const char* name, TierId tier_id) {
  DepthwiseKernel k = {};
  k.name = name;
  k.tier_id = tier_id;
  k.lhs_element_type = ElementType::kS16;
  k.layout = depthwise_layout(1);
  k.channels = M::kChannels;
  k.reach = 2 * M::kChannels;
  k.rows = k.walk_rows = 2;
  k.walks_tiles = true;
  k.prepare = depthwise_prepare<Weights>;
  k.multiply = depthwise_form<M, false, kind>;
  if (kind == DepthwiseOutput::kS16) k.flags = kRequantizes;
  return k;
}

}  // namespace
}  // namespace octet
