// SPDX-License-Identifier: Apache-2.0
// Multiplies few rows by weights where they lie. A product of one row reads each weight once, so to
// pack them would cost several times the product.
#pragma once

#include <string.h>

#include "kernels/x86/runtime/vector.h"

namespace octet {
namespace {

// ---- columns that are contiguous in memory ------------------------------------------------------

// The last vector of a column, which may begin before the bytes that are multiplied already: those
// of the lhs are zero there.
struct Tail {
  size_t whole, from;  // depth of whole vectors; where the last one begins

  explicit Tail(size_t k) : whole(k / kBytes * kBytes), from(k < kBytes ? 0 : k - kBytes) {}
  void copy_lhs(const uint8_t* row, size_t k, uint8_t (&last)[kBytes]) const {
    memset(last, 0, sizeof last);
    if (k > whole) memcpy(last + (whole - from), row + whole, k - whole);
  }
};

// Sums of kElements / rows adjacent columns, n_stride apart (0: the same one), for 1 or 2 rows.
template <int rows>
OCTET_INLINE inline Vector dot_columns(const FewRows& f, const uint8_t* const (&lhs)[rows],
                                       const uint8_t (&last)[rows][kBytes], const Tail& tail,
                                       const uint8_t* columns, size_t stride) {
  constexpr int kColumns = kElements / rows, kGroups = kColumns / 4 ? kColumns / 4 : 1,
                kGroup = kColumns / kGroups;
  const Vector flip = bytes_of(f.weights.flip);
  const Part part(f.weights.k);
  // Without masks, columns shorter than a vector are copied
  uint8_t some[kColumns][kBytes];
  if (!Part::kMasks && f.weights.k < kBytes) {
    OCTET_NO_UNROLL
    for (size_t j = 0; j < kColumns; ++j) store(some[j], part.load(columns + j * stride));
    columns = some[0], stride = kBytes;
  }
  const uint8_t *x[rows], *at[kGroups];
  unroll<rows>([&](auto r) OCTET_INLINE { x[r] = lhs[r]; });
  unroll<kGroups>([&](auto g) OCTET_INLINE { at[g] = columns + g * kGroup * stride; });
  Vector acc[kElements] = {};
  bool more = f.weights.k > tail.whole;
  for (size_t end = tail.whole;; end = kBytes, more = false) {
    OCTET_NO_UNROLL
    for (size_t k = 0; k < end; k += kBytes)
      unroll<kGroups>([&](auto g) OCTET_INLINE {
        unroll<kGroup>([&](auto j) OCTET_INLINE {
          const uint8_t* const from = at[g] + j * stride + k;
          const Vector w = (Part::kMasks ? part.load(from) : load(from)) ^ flip;
          unroll<rows>([&](auto r) OCTET_INLINE {
            constexpr int sum = r * kColumns + g * kGroup + j;
            acc[sum] = dot(acc[sum], load(x[r] + k), w);
            pin(acc[sum]);
          });
        });
      });
    if (!more) return sums_of(acc);
    unroll<rows>([&](auto r) OCTET_INLINE { x[r] = last[r]; });
    unroll<kGroups>([&](auto g) OCTET_INLINE { at[g] += tail.from; });
  }
}

// All columns for 1 or 2 rows. The last block overlaps the one before; fewer columns than a block
// are multiplied one by one.
template <int rows>
void multiply_by_columns(const FewRows& f, size_t row) {
  constexpr size_t kColumns = kElements / rows;
  const RuntimeWeights& w = f.weights;
  const Tail tail(w.k);
  const uint8_t* lhs[rows];
  uint8_t last[rows][kBytes];
  unroll<rows>([&](auto r) OCTET_INLINE {
    lhs[r] = f.lhs + (row + r) * f.lhs_stride;
    tail.copy_lhs(lhs[r], w.k, last[r]);
  });
  const bool one = w.n < kColumns;
  for (size_t n = 0; n < w.n; n += one ? 1 : kColumns) {
    const size_t first = one || n + kColumns <= w.n ? n : w.n - kColumns;
    const Vector sums =
        dot_columns<rows>(f, lhs, last, tail, w.data + first * w.n_stride, one ? 0 : w.n_stride);
    int32_t values[kElements];
    store(values, sums);
    for (size_t r = 0; r < rows; ++r)
      memcpy(f.sums + (row + r) * f.sums_stride + first, values + r * kColumns,
             (one ? 1 : kColumns) * sizeof(int32_t));
  }
}

// ---- rows that are contiguous in memory ---------------------------------------------------------

// Rows that are near each other need no blocks of depth.
constexpr size_t kNear = 512;

// As many columns as a vector has bytes, over a block of depth. Sums stay in the order
// that interleave_rows gives until the last block.
template <int rows>
OCTET_INLINE inline void multiply_part(const FewRows& f, size_t row, size_t column, size_t k0,
                                       size_t k1, const Part& part, int32_t* sums) {
  const RuntimeWeights& w = f.weights;
  const Vector flip = bytes_of(w.flip);
  Vector acc[rows][4];
  unroll<rows>([&](auto r) OCTET_INLINE {
    unroll<4>([&](auto i) OCTET_INLINE {
      acc[r][i] = k0 ? load(sums + r * f.sums_stride + i * kElements) : zero();
    });
  });
  const uint8_t* lhs = f.lhs + row * f.lhs_stride + k0;
  const uint8_t* from = w.data + k0 * w.k_stride + column;
  size_t stride = w.k_stride;
  uint8_t copy[4][kBytes];
  for (size_t rest = k1 - k0;;) {
    for (; rest >= 4; rest -= 4, lhs += 4, from += 4 * stride) {
      Vector v[4];
      unroll<4>([&](auto i) OCTET_INLINE { v[i] = part.load(from + i * stride) ^ flip; });
      interleave_rows(v);
      unroll<rows>([&](auto r) OCTET_INLINE {
        int32_t four;
        memcpy(&four, lhs + r * f.lhs_stride, sizeof four);
        const Vector x = OCTET_MM(set1_epi32)(four);
        unroll<4>([&](auto i) OCTET_INLINE { acc[r][i] = dot(acc[r][i], x, v[i]); });
      });
    }
    if (!rest) break;
    // Any row may stand for those beyond the last one, where the lhs is zero
    for (size_t i = 0; i < 4; ++i) store(copy[i], part.load(from + (i < rest ? i : 0) * stride));
    from = copy[0], stride = kBytes, rest = 4;
  }
  unroll<rows>([&](auto r) OCTET_INLINE {
    if (k1 >= w.k) order_columns(acc[r]);
    unroll<4>([&](auto i)
                  OCTET_INLINE { store(sums + r * f.sums_stride + i * kElements, acc[r][i]); });
  });
}

template <int rows>
void multiply_by_rows(const FewRows& f, size_t row) {
  const RuntimeWeights& w = f.weights;
  const DepthBlocks blocks(w);
  const size_t step = w.k_stride <= kNear ? w.k : blocks.step;
  for (size_t k = 0; k < w.k; k += step) {
    const size_t end = k + step < w.k ? k + step : w.k;
    for (size_t n = 0; n < w.n; n += kBytes) {
      blocks.prefetch_next(k, n);
      multiply_part<rows>(f, row, n, k, end, Part(w.n - n), f.sums + row * f.sums_stride + n);
    }
  }
}

void multiply_some_columns(const FewRows& f) {
  const bool by_rows = f.weights.k_stride != 1;
  size_t row = 0;
#if defined(__AVX512BW__)
  if (by_rows && f.rows == 5) return multiply_by_rows<5>(f, 0);
  if (by_rows && f.rows == 4) return multiply_by_rows<4>(f, 0);
#endif
  for (; row + 2 <= f.rows; row += 2)
    by_rows ? multiply_by_rows<2>(f, row) : multiply_by_columns<2>(f, row);
  if (row < f.rows) by_rows ? multiply_by_rows<1>(f, row) : multiply_by_columns<1>(f, row);
}

// Contiguous columns are read once for each two rows: as many at a time as the L1 cache keeps.
void multiply_few_rows(const FewRows& f) {
  constexpr size_t kCached = 24 * 1024;  // bytes
  const RuntimeWeights& w = f.weights;
  const bool all = w.k_stride != 1 || f.rows <= 2 || w.n <= kCached / w.k;
  const size_t step = all ? w.n : smaller(w.n, larger(kCached / w.k / kElements, 1) * kElements);
  FewRows part = f;
  part.weights.n = step;
  for (size_t n = 0; n < w.n; n += step) {
    const size_t first = smaller(n, w.n - step);  // the last part overlaps the one before
    part.weights.data = w.data + first * w.n_stride;
    part.sums = f.sums + first;
    multiply_some_columns(part);
  }
}

}  // namespace
}  // namespace octet
