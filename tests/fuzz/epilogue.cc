// SPDX-License-Identifier: Apache-2.0
// Draws epilogues and their arrays.
#include "fuzz/epilogue.h"

#include <cmath>
#include <cstdio>
#include <limits>

#include "support/reference.h"

namespace octet_fuzz {
namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max(),
                  kLeast = std::numeric_limits<int32_t>::min();
constexpr int64_t kMostS16Acc = int64_t{1} << 47;
constexpr int32_t kLongestS16Shift = 7;

int32_t draw_multiplier(Choices* c) {
  return c->one_in(8) ? c->any({0, 1 << 30, std::numeric_limits<int32_t>::max()})
                      : (int32_t)(0x40000000 | c->bits(4) % 0x40000000);
}

}  // namespace

Epilogue::Epilogue(Choices* c, const octet_gemm_desc& lhs, const std::vector<Range>& ranges,
                   size_t columns)
    : desc_(lhs), ranges_(columns), each_(ranges) {
  for (size_t i = 0; i < each_.size(); ++i) ranges_[i % columns].cover(each_[i]);
  has_s16() ? draw_s16_bias(c) : draw_bias(c);
  int64_t magnitude = 1;
  for (size_t n = 0; n < ranges_.size(); ++n)
    magnitude = std::max({magnitude, ranges_[n].hi + bias(n), -(ranges_[n].lo + bias(n))});
  if (desc_.dst_type != OCTET_S32) {
    draw_scales(c, (double)magnitude);
    draw_output(c);
    if (is_8bit(desc_.dst_type)) draw_residual(c);
  }
  has_s16() ? judge_s16() : judge();
}

int64_t Epilogue::largest_bias() const {
  int64_t largest = 0;
  for (const int32_t b : bias_) largest = std::max(largest, std::abs(int64_t{b}));
  return largest;
}

int32_t Epilogue::longest_shift() const {
  int32_t longest = 0;
  if (desc_.epilogue.requant == OCTET_REQUANT_TFLITE)
    for (const int32_t shift : shifts_) longest = std::max(longest, shift);
  return longest;
}

void Epilogue::draw_bias(Choices* c) {
  const size_t kind = c->below(8), n = ranges_.size();
  if (kind < 2) return;
  Random random = c->random();
  bias_.resize(n);
  const int shift = (int)c->below(24);
  for (int32_t& b : bias_) b = (int32_t)(random() >> 32) / (1 << 8) / (1 << shift);
  // One accumulator just fits int32, or exceeds it by one.
  const size_t column = c->below(n);
  const int64_t beyond = c->one_in(4) ? 1 : 0;
  if (kind == 6) bias_[column] = (int32_t)std::min(kMost, kMost - ranges_[column].hi + beyond);
  if (kind == 7) bias_[column] = (int32_t)std::max(kLeast, kLeast - ranges_[column].lo - beyond);
  desc_.epilogue.bias = bias_.data();
}

// In 32 bits, or in 64, where one accumulator just fits 48 bits, or exceeds them by one.
void Epilogue::draw_s16_bias(Choices* c) {
  const size_t kind = c->below(8), n = ranges_.size();
  if (kind == 0) return;
  Random random = c->random();
  if (kind < 3) {
    for (size_t i = 0; i < n; ++i) bias_.push_back((int32_t)(random() >> 32));
    desc_.epilogue.bias = bias_.data();
    return;
  }
  const int64_t part = int64_t{1} << (17 + c->below(46));
  for (size_t i = 0; i < n; ++i) bias_s64_.push_back((int64_t)random() / part);
  const size_t column = c->below(n);
  const int64_t last = kMostS16Acc - ranges_[column].hi, beyond = c->one_in(4) ? 1 : 0;
  if (kind == 6) bias_s64_[column] = last - 1 + beyond;
  if (kind == 7) bias_s64_[column] = -last - beyond;
  desc_.epilogue.bias_s64 = bias_s64_.data();
}

void Epilogue::draw_scales(Choices* c, double magnitude) {
  const bool static_integer = desc_.dst_type != OCTET_F32 && desc_.lhs_quant == OCTET_LHS_STATIC;
  if (static_integer && c->one_in(3))
    desc_.epilogue.requant =
        c->any({OCTET_REQUANT_TFLITE, OCTET_REQUANT_TFLITE, OCTET_REQUANT_DOUBLE});
  const size_t count = c->one_in(2) ? ranges_.size() : 1;
  // The base scale fills the output's range, or lies beside the bounds at which create proves that
  // a kernel needs no clamp, or has any value.
  const double fits = (has_s16() ? 30000 : 100) / magnitude,
               limit = c->any({2147483648.0, 32767.0}) / magnitude;
  const double base = c->any({fits, fits, 4 * fits, 0.5, limit, limit * 0.999999, limit * 1.000001,
                              double{draw_scale(c)}});
  Random random = c->random();
  const size_t spread = c->any<size_t>({1, 1, 5});
  for (size_t n = 0; n < count; ++n) {
    const double factor = base / (double)(1 + random.below(spread));
    scales_.push_back(octet_test::fl(std::min(std::max(factor, 0x1p-149), 0x1p48)));
    int32_t multiplier, shift;
    octet_test::quantize_multiplier(std::min(factor, 1.0), &multiplier, &shift);
    multipliers_.push_back(multiplier);
    shifts_.push_back(shift);
    factors_.push_back(std::min(factor, 0x1p48));
  }
  if (desc_.epilogue.requant == OCTET_REQUANT_DOUBLE) {
    desc_.epilogue.factors = factors_.data();
    desc_.epilogue.factor_count = count;
    return;
  }
  if (desc_.epilogue.requant == OCTET_REQUANT_FLOAT) {
    desc_.epilogue.scales = scales_.data();
    desc_.epilogue.scale_count = count;
    return;
  }
  if (c->one_in(3)) {
    const size_t channel = c->below(count);
    multipliers_[channel] = draw_multiplier(c);
    // Up to the longest left shift for which all accumulators fit, and one more.
    const int longest = has_s16() ? kLongestS16Shift : std::max(0, 30 - (int)std::log2(magnitude));
    shifts_[channel] = c->one_in(2) ? -c->between(0, 31) : std::min(30, c->between(0, longest + 1));
  }
  desc_.epilogue.multipliers = multipliers_.data();
  desc_.epilogue.shifts = shifts_.data();
  desc_.epilogue.multiplier_count = count;
}

void Epilogue::draw_output(Choices* c) {
  const octet_type type = desc_.dst_type;
  desc_.epilogue.activation =
      c->any({OCTET_ACTIVATION_NONE, OCTET_ACTIVATION_RELU, OCTET_ACTIVATION_RELU6,
              OCTET_ACTIVATION_CLAMP, OCTET_ACTIVATION_RELU_N1_TO_1});
  desc_.epilogue.dst_scale =
      c->any({0.0235f, 1.0f, 0.5f, 12.0f, 2.4f, 4.0f, 1e-4f, 1e-42f, draw_scale(c)});
  if (type == OCTET_F32) {
    const float infinity = std::numeric_limits<float>::infinity();
    desc_.epilogue.clamp_min = c->any({-3.5f, 0.0f, -infinity, -1e-45f});
    desc_.epilogue.clamp_max =
        c->any({1000.25f, desc_.epilogue.clamp_min == 0 ? 1e-45f : 0.0f, infinity, 0.5f});
    if (c->one_in(2)) return;
    Random random = c->random();
    for (size_t n = 0; n < ranges_.size(); ++n)
      bias_f32_.push_back((float)random.below(4096) * 0.37f - 757);
    if (c->one_in(4))
      bias_f32_[c->below(ranges_.size())] =
          c->any({infinity, -infinity, std::nanf(""), -0.0f, 3e38f});
    desc_.epilogue.bias_f32 = bias_f32_.data();
    return;
  }
  if (type != OCTET_S16) desc_.epilogue.dst_zero_point = draw_zero_point(c, type);
  const int32_t a = draw_zero_point(c, type), b = draw_zero_point(c, type);
  desc_.epilogue.clamp_min = (float)std::min(a, b);
  desc_.epilogue.clamp_max = (float)std::max(a, b);
  if (a == 0 && b == 0) desc_.epilogue.clamp_max = 1;  // both 0 are refused as forgotten
  if (type == OCTET_S16 || !c->one_in(4)) return;
  Random random = c->random();
  for (int i = 0; i < 256; ++i) lut_.push_back((uint8_t)random());
  desc_.epilogue.lut = lut_.data();
}

void Epilogue::draw_residual(Choices* c) {
  if (desc_.epilogue.requant == OCTET_REQUANT_DOUBLE || !c->one_in(3)) return;
  octet_residual& r = desc_.epilogue.residual;
  r.type = type_8bit(c);
  r.zero_point = draw_zero_point(c, r.type);
  r.scale = c->any({0.7f, 1.0f, 0.5f, draw_scale(c)});
  r.intermediate_zero_point = draw_zero_point(c, desc_.dst_type);
  r.product_multiplier = draw_multiplier(c);
  r.residual_multiplier = draw_multiplier(c);
  r.dst_multiplier = draw_multiplier(c);
  r.product_shift = -c->any({1, 0, 2, c->between(0, 31)});
  r.residual_shift = -c->any({1, 0, 2, c->between(0, 31)});
  r.dst_shift = -c->any({18, 19, 17, c->between(0, 31)});
  octet_epilogue& e = desc_.epilogue;
  e.product_activation =
      c->any({OCTET_ACTIVATION_NONE, OCTET_ACTIVATION_RELU, OCTET_ACTIVATION_RELU6,
              OCTET_ACTIVATION_CLAMP, OCTET_ACTIVATION_RELU_N1_TO_1});
  e.product_scale = c->any({0.0235f, 1.0f, 12.0f, 2.4f, 1e-42f, draw_scale(c)});
  const int32_t a = draw_zero_point(c, desc_.dst_type), b = draw_zero_point(c, desc_.dst_type);
  e.product_clamp_min = (float)std::min(a, b);
  e.product_clamp_max = (float)(a == 0 && b == 0 ? 1 : std::max(a, b));
  if (e.requant == OCTET_REQUANT_FLOAT && c->one_in(2)) e.product_clamp_max += 0.37f;
}

int32_t Epilogue::left_shift(size_t n) const {
  const octet_epilogue& e = desc_.epilogue;
  return e.shifts ? std::max(e.shifts[e.multiplier_count == 1 ? 0 : n], 0) : 0;
}

int64_t Epilogue::held(size_t n, int64_t acc) const {
  if (has_s16()) return acc;
  const int32_t shift = left_shift(n);
  return octet_test::clamped(acc, kLeast >> shift, kMost >> shift);
}

bool Epilogue::holds(size_t n, int64_t acc) const { return held(n, acc) == acc; }

// Every step after the accumulator is monotone, so both ends decide.
bool Epilogue::is_one_byte(size_t n, const Range& range) const {
  if ((desc_.dst_type != OCTET_S8 && desc_.dst_type != OCTET_U8) ||
      desc_.lhs_quant != OCTET_LHS_STATIC)
    return false;
  const octet_type type = desc_.epilogue.residual.type;
  const int32_t least = type == OCTET_S8 ? -128 : 0;
  for (int32_t value = least; value <= (type ? least + 255 : least); ++value) {
    const auto byte = [&](int64_t sum) {
      return octet_test::expected_output(desc_, n, nullptr, held(n, sum + bias(n)),
                                         type ? value : 0);
    };
    if (byte(range.lo) != byte(range.hi)) return false;
  }
  return true;
}

// Each matrix decides for itself: create gives it biases of its own.
void Epilogue::judge() {
  for (size_t i = 0; i < each_.size(); ++i) {
    const size_t n = i % ranges_.size();
    if (holds(n, each_[i].lo + bias(n)) && holds(n, each_[i].hi + bias(n))) continue;
    if (is_one_byte(n, each_[i]))
      may_overflow_ = true;
    else
      refused_ = "accumulators that may leave int32, or leave it when they are shifted";
  }
}

// The bytes of s16 values are multiplied in int32, and their sums meet in 48 bits (docs/int16.md).
void Epilogue::judge_s16() {
  const octet_epilogue& e = desc_.epilogue;
  for (size_t n = 0; n < ranges_.size(); ++n) {
    const int64_t most = kMostS16Acc - ranges_[n].hi;
    if (255 * std::max(ranges_[n].positive, -ranges_[n].negative) > kMost || bias(n) < -most ||
        bias(n) >= most)
      refused_ = "sums of s16 values that may leave int32, or 48 bits";
    const size_t i = e.multiplier_count == 1 ? 0 : n;
    if (e.shifts && e.multipliers[i] && e.shifts[i] > kLongestS16Shift)
      refused_ = "a shift that s16 values do not have";
  }
}

std::string text_of(const octet_gemm_desc& d, size_t column) {
  char text[700];
  const octet_epilogue& e = d.epilogue;
  const octet_residual& r = e.residual;
  const size_t scale = e.scale_count == 1 ? 0 : column,
               multiplier = e.multiplier_count == 1 ? 0 : column,
               factor = e.factor_count == 1 ? 0 : column;
  std::snprintf(
      text, sizeof text,
      "%s x %s -> %s, lhs quant %d zero point %d, bias %lld, scale %a, multiplier %d shift "
      "%d, factor %a, bias_f32 %a, "
      "zero point %d, activation %d [%a, %a] dst_scale %a%s, residual %s (%d, %a; %d, %d "
      "%d, %d %d, %d %d), of the product %d [%a, %a] scale %a",
      octet_type_name(d.lhs_type), octet_type_name(d.rhs_type), octet_type_name(d.dst_type),
      d.lhs_quant, d.lhs_zero_point,
      (long long)(e.bias_s64 ? e.bias_s64[column]
                  : e.bias   ? e.bias[column]
                             : 0),
      e.scales ? (double)e.scales[scale] : 0, e.multipliers ? e.multipliers[multiplier] : 0,
      e.shifts ? e.shifts[multiplier] : 0, e.factors ? e.factors[factor] : 0,
      e.bias_f32 ? (double)e.bias_f32[column] : 0, e.dst_zero_point, e.activation,
      (double)e.clamp_min, (double)e.clamp_max, (double)e.dst_scale, e.lut ? ", table" : "",
      r.type ? octet_type_name(r.type) : "none", r.zero_point, (double)r.scale,
      r.intermediate_zero_point, r.product_multiplier, r.product_shift, r.residual_multiplier,
      r.residual_shift, r.dst_multiplier, r.dst_shift, e.product_activation,
      (double)e.product_clamp_min, (double)e.product_clamp_max, (double)e.product_scale);
  return text;
}

}  // namespace octet_fuzz
