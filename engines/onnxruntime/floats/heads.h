// SPDX-License-Identifier: Apache-2.0
// Cuts the attention of all heads of all images into tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/onnxruntime/floats/attention_rows.h"

namespace octet::onnxruntime {

// The tokens that attention leaves out. A masked score gets `masked` added, and one of a later
// token, where `causal`, the lowest float.
struct TokenMask {
  enum Form {
    kNone,
    kEnds,           // images: the first token that is masked
    kEndsAndStarts,  // 2 x images: as kEnds, then the number of tokens masked at the beginning
    kTokens,         // images x tokens: 0 or less masks a token
    kPairs,          // images x tokens x tokens: [image, query, key], as kTokens
    kAdded           // floats that are added, for each image and query as the strides say
  };
  Form form = kNone;
  const int32_t* data = nullptr;  // borrowed for the run
  const float* added = nullptr;   // of kAdded, instead
  size_t image_stride = 0, query_stride = 0;
  float masked = 0;
  bool causal = false;
};

struct Heads {
  size_t images, tokens, heads, depth;  // depth: of a head; none is 0
  // Borrowed for the run: for each token of each image all heads. stride: floats to the next token.
  const float *queries, *keys, *values;
  size_t stride;
  float scale;
  TokenMask mask;
  float* output;  // borrowed for the run: for each token of each image all heads
};

class HeadTasks {
 public:
  HeadTasks(const Heads& heads, Attend attend, size_t threads);

  size_t count() const { return count_; }
  size_t scratch_bytes() const;  // of all tasks
  // Tasks may run at the same time. No byte of the output depends on their number.
  void run(float* scratch, size_t task) const;

 private:
  size_t floats() const;  // of one task
  size_t blocks() const;  // of one head's rows
  void prepare(size_t head, float* keys, float* values) const;
  void set_masks(size_t image, size_t row, size_t rows, float* masks) const;
  bool masks_differ() const {
    return h_.mask.causal || h_.mask.form == TokenMask::kPairs || h_.mask.query_stride;
  }

  const Heads h_;
  const Attend attend_;
  const size_t padded_tokens_, padded_depth_;
  size_t count_;
};

}  // namespace octet::onnxruntime
