// SPDX-License-Identifier: Apache-2.0
// Draws epilogues.
#pragma once

#include <algorithm>
#include <string>

#include "fuzz/data.h"
#include "fuzz/memory.h"

namespace octet_fuzz {

// The range of a column's accumulators without bias, as create knows it from its weights.
struct Range {
  int64_t lo = 0, hi = 0;
  int64_t positive = 0, negative = 0;  // sums of the weights of either sign

  // Adds a weight whose factors are least to most.
  void add(int64_t weight, int64_t least, int64_t most) {
    lo += weight * (weight < 0 ? most : least);
    hi += weight * (weight < 0 ? least : most);
    (weight < 0 ? negative : positive) += weight;
  }
  void cover(const Range& r) {
    lo = std::min(lo, r.lo), hi = std::max(hi, r.hi);
    positive = std::max(positive, r.positive), negative = std::min(negative, r.negative);
  }
};
// An s16 value's range is -kS16Reach to kS16Reach, as create knows it.
constexpr int64_t kS16Reach = 32768;

class Epilogue {
 public:
  Epilogue() = default;
  // `lhs` has dst_type, lhs_quant and all fields that were chosen before. ranges: of each matrix's
  // columns, matrix after matrix.
  Epilogue(Choices* c, const octet_gemm_desc& lhs, const std::vector<Range>& ranges,
           size_t columns);
  Epilogue(Epilogue&&) = default;  // no copies: desc points into the vectors
  Epilogue& operator=(Epilogue&&) = default;

  // The arrays live as long as this object.
  const octet_gemm_desc& desc() const { return desc_; }
  int64_t bias(size_t n) const {
    return !bias_s64_.empty() ? bias_s64_[n] : bias_.empty() ? 0 : bias_[n];
  }
  int64_t largest_bias() const;
  int32_t longest_shift() const;  // to the left
  // Whether int32 holds this accumulator after TFLite's left shift, if any.
  bool holds(size_t n, int64_t acc) const;
  // The reason for which create must refuse it: an accumulator, or one shifted for TFLite, may
  // leave int32, or, of s16 values, 48 bits. Null if none may.
  const char* refused() const { return refused_; }
  // Whether create may refuse or accept it: a column leaves int32, but all of its accumulators give
  // the same byte.
  bool may_overflow() const { return may_overflow_; }
  // The accumulator, or the nearest one that int32 holds after the shift.
  int64_t held(size_t n, int64_t acc) const;

 private:
  bool has_s16() const { return desc_.lhs_type == OCTET_S16; }
  void draw_bias(Choices* c);
  void draw_s16_bias(Choices* c);
  void draw_scales(Choices* c, double magnitude);
  void draw_output(Choices* c);
  void draw_residual(Choices* c);
  int32_t left_shift(size_t n) const;
  bool is_one_byte(size_t n, const Range& range) const;
  void judge();
  void judge_s16();

  octet_gemm_desc desc_ = OCTET_GEMM_DESC_INIT;
  std::vector<Range> ranges_, each_;  // of columns, all matrices together; of each matrix's columns
  std::vector<int32_t> bias_, multipliers_, shifts_;
  std::vector<int64_t> bias_s64_;
  std::vector<float> scales_, bias_f32_;
  std::vector<double> factors_;
  std::vector<uint8_t> lut_;
  const char* refused_ = nullptr;
  bool may_overflow_ = false;
};

// The fields and this column's values in a line, for a report.
std::string text_of(const octet_gemm_desc& desc, size_t column);

// The arrays of a descriptor in blocks of their own, which end with create.
struct EpilogueArrays {
  Block bias, bias_s64, scales, multipliers, shifts, bias_f32, lut;
};

template <typename Desc>
EpilogueArrays describe(Choices* c, const octet_gemm_desc& from, size_t n, Desc* to) {
  const auto copy = [&](const auto* values, size_t count, auto** field) {
    if (!values) return Block();
    Block block(c, count * sizeof *values, sizeof *values);
    std::memcpy(block.data(), values, block.bytes());
    *field = (decltype(values))block.data();
    return block;
  };
  const octet_epilogue& e = from.epilogue;
  to->dst_type = from.dst_type;
  to->epilogue = e;
  return {copy(e.bias, n, &to->epilogue.bias),
          copy(e.bias_s64, n, &to->epilogue.bias_s64),
          copy(e.scales, e.scale_count, &to->epilogue.scales),
          copy(e.multipliers, e.multiplier_count, &to->epilogue.multipliers),
          copy(e.shifts, e.multiplier_count, &to->epilogue.shifts),
          copy(e.bias_f32, n, &to->epilogue.bias_f32),
          copy(e.lut, 256, &to->epilogue.lut)};
}

}  // namespace octet_fuzz
