// SPDX-License-Identifier: Apache-2.0
// Lays out keys, values and masks of each head for the rows that a task has of it.
#include "engines/onnxruntime/floats/heads.h"

#include <algorithm>
#include <limits>

namespace octet::onnxruntime {
namespace {

constexpr size_t kBlock = 32;             // rows of a head that are computed at once
constexpr double kFewProducts = 1 << 17;  // fewer are not worth another task

constexpr size_t padded(size_t count) {
  return (count + kAttentionPadding - 1) / kAttentionPadding * kAttentionPadding;
}

}  // namespace

HeadTasks::HeadTasks(const Heads& heads, Attend attend, size_t threads)
    : h_(heads),
      attend_(attend),
      padded_tokens_(padded(heads.tokens)),
      padded_depth_(padded(heads.depth)) {
  const double products = 2.0 * (double)h_.images * (double)h_.heads * (double)h_.tokens *
                          (double)h_.tokens * (double)h_.depth;
  const double most = std::min(1 + products / kFewProducts, (double)threads);
  count_ = std::min((size_t)most, h_.images * h_.heads * blocks());
}

size_t HeadTasks::blocks() const { return (h_.tokens + kBlock - 1) / kBlock; }

size_t HeadTasks::floats() const {
  const size_t head = h_.depth * padded_tokens_ + h_.tokens * padded_depth_;
  const size_t masks = (masks_differ() ? kBlock : 1) * padded_tokens_;
  return head + masks + kBlock * (padded_tokens_ + padded_depth_ + 1);
}

size_t HeadTasks::scratch_bytes() const { return count_ * floats() * sizeof(float); }

// Keys lie token by token, so that 16 scores are computed at once.
void HeadTasks::prepare(size_t head, float* keys, float* values) const {
  const size_t at = head / h_.heads * h_.tokens * h_.stride + head % h_.heads * h_.depth;
  for (size_t d = 0; d < h_.depth; ++d) {
    float* const to = keys + d * padded_tokens_;
    for (size_t t = 0; t < h_.tokens; ++t) to[t] = h_.keys[at + t * h_.stride + d];
    std::fill(to + h_.tokens, to + padded_tokens_, 0.f);
  }
  for (size_t t = 0; t < h_.tokens; ++t) {
    float* const to = values + t * padded_depth_;
    std::copy_n(h_.values + at + t * h_.stride, h_.depth, to);
    std::fill(to + h_.depth, to + padded_depth_, 0.f);
  }
}

// Writes the masks of these rows of a head, or one mask for all rows.
void HeadTasks::set_masks(size_t image, size_t row, size_t rows, float* masks) const {
  const TokenMask& m = h_.mask;
  const int64_t tokens = (int64_t)h_.tokens;
  int64_t start = 0, end = tokens;  // of the tokens that are not masked
  if (m.form == TokenMask::kEnds || m.form == TokenMask::kEndsAndStarts)
    end = std::clamp<int64_t>(m.data[image], 0, tokens);
  if (m.form == TokenMask::kEndsAndStarts)
    start = std::clamp<int64_t>(m.data[h_.images + image], 0, tokens);
  if (!masks_differ()) rows = 1;
  for (size_t i = 0; i < rows; ++i) {
    float* const to = masks + i * padded_tokens_;
    if (m.form == TokenMask::kTokens || m.form == TokenMask::kPairs) {
      const size_t line = m.form == TokenMask::kTokens ? image : image * h_.tokens + row + i;
      const int32_t* const from = m.data + line * h_.tokens;
      for (size_t t = 0; t < h_.tokens; ++t) to[t] = from[t] > 0 ? 0.f : m.masked;
    } else if (m.form == TokenMask::kAdded) {
      std::copy_n(m.added + image * m.image_stride + (row + i) * m.query_stride, h_.tokens, to);
    } else {
      std::fill(to, to + tokens, m.masked);
      if (start < end) std::fill(to + start, to + end, 0.f);
    }
    if (m.causal) std::fill(to + row + i + 1, to + tokens, std::numeric_limits<float>::lowest());
    std::fill(to + tokens, to + padded_tokens_, -std::numeric_limits<float>::infinity());
  }
}

void HeadTasks::run(float* scratch, size_t task) const {
  AttentionRows a = {};
  a.tokens = h_.tokens, a.depth = h_.depth, a.scale = h_.scale;
  a.padded_tokens = padded_tokens_, a.padded_depth = padded_depth_;
  a.output_stride = h_.heads * h_.depth, a.query_stride = h_.stride;
  a.mask_stride = masks_differ() ? padded_tokens_ : 0;
  float* const keys = scratch + task * floats();
  float* const values = keys + h_.depth * padded_tokens_;
  a.scores = values + h_.tokens * padded_depth_;
  a.weighted = a.scores + kBlock * padded_tokens_;
  a.sums = a.weighted + kBlock * padded_depth_;
  float* const masks = a.sums + kBlock;
  a.keys = keys, a.values = values, a.masks = masks;
  const size_t all = h_.images * h_.heads * blocks(), each = all / count_, more = all % count_;
  const size_t first = task * each + std::min(task, more);
  const size_t last = first + each + (task < more);
  for (size_t i = first; i < last; ++i) {
    const size_t head = i / blocks(), row = i % blocks() * kBlock;
    const size_t line = head / h_.heads * h_.tokens + row, column = head % h_.heads * h_.depth;
    if (i == first || row == 0) prepare(head, keys, values);
    a.rows = std::min(kBlock, h_.tokens - row);
    set_masks(head / h_.heads, row, a.rows, masks);
    a.queries = h_.queries + line * a.query_stride + column;
    a.output = h_.output + line * a.output_stride + column;
    attend_(a);
  }
}

}  // namespace octet::onnxruntime
