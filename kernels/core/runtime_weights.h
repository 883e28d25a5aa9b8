// SPDX-License-Identifier: Apache-2.0
// Describes a tier's work on weights that come with a run: packing them, and multiplying few rows
// by them where they lie.
#pragma once

#include "kernels/core/packed_layout.h"

namespace octet {

// Weights as the caller stores them: element (k, n) at data[k * k_stride + n * n_stride], one of
// the strides being 1. flip is xor-ed to every byte, which makes it an s8.
struct RuntimeWeights {
  const uint8_t* data;
  size_t k_stride, n_stride;
  size_t n, k;
  uint8_t flip;
};

// The most rows that are multiplied by weights where they lie. Packing pays for more.
constexpr size_t kFewRows = 4;
// The most columns of one call. Long rows let a CPU prefetch them; their sums stay in the L1 cache.
constexpr size_t kFewColumns = 2048;

// sums[i * sums_stride + j] = sum over k of lhs[i * lhs_stride + k] * weights(k, j), u8 times s8.
// Rows of the lhs have zeros from k on to a multiple of 4. There may be one row more than kFewRows,
// of ones, to sum the weights. At most kFewColumns columns; sums_stride, in elements, is a multiple
// of 64, and so many sums of a row may be written.
struct FewRows {
  RuntimeWeights weights;
  const uint8_t* lhs;
  size_t lhs_stride;
  size_t rows;
  int32_t* sums;
  size_t sums_stride;
};

struct RuntimeOps {
  const char* name;  // of multiply, as kernels are named
  RhsLayout layout;
  // Packs columns into dense panels of `layout`. If sums is not null, it gets the sum of each
  // column's s8, padded to the layout's step.
  void (*pack)(const RuntimeWeights& weights, uint8_t* panels, int32_t* sums);
  void (*multiply)(const FewRows& product);
};

}  // namespace octet
