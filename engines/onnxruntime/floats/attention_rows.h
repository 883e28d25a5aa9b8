// SPDX-License-Identifier: Apache-2.0
// Attention of one head in f32, with the same bytes on every CPU: each tier compiles it for itself.
#pragma once

#include <stddef.h>

namespace octet::onnxruntime {

// Keys and values are padded to multiples of so many tokens and elements.
constexpr size_t kAttentionPadding = 16;

// Some rows of one head, all with the same keys and values.
struct AttentionRows {
  size_t rows, tokens, depth;          // depth: of a head
  size_t padded_tokens, padded_depth;  // multiples of kAttentionPadding
  const float* queries;                // rows x depth
  size_t query_stride;                 // floats from one row to the next, as all strides are
  const float *keys, *values;          // depth x padded_tokens; tokens x padded_depth, with zeros
  float scale;                         // of the products of queries and keys
  const float* masks;                  // padded_tokens each, -infinity behind the last token
  size_t mask_stride;                  // 0: one for all rows
  float *scores, *weighted, *sums;     // scratch: rows x padded_tokens, rows x padded_depth, rows
  float* output;                       // rows x depth
  size_t output_stride;
};

// For each row, where fl is a rounding to float and sums begin with 0:
//
//   score[t] = fl(fl(scale * sum of fl(query[d] * key[t,d])) + mask[t]), the sum in the order of d
//   e[t] = exponential(fl(score[t] - the largest score))
//   output[d] = fl(sum of fl(e[t] * value[t,d]) / sum of e[t]), the first sum in the order of t
//
// e is summed in 16 sums, one for each t % 16, in the order of t; then sum i + 8 is added to sum i,
// and so on for 4, 2 and 1. A NaN is stored as 0x7fc00000.
using Attend = void (*)(const AttentionRows& a);

}  // namespace octet::onnxruntime
