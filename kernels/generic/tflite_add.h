// SPDX-License-Identifier: Apache-2.0
// Searches a TfliteAdd that equals TFLite's ADD, in plain loops over all pairs of 8-bit values.
#pragma once

#include "kernels/core/epilogue.h"
#include "kernels/core/tflite_scale.h"

namespace octet {
namespace {

constexpr int kMostRight = 22;  // 256 << 22 and the terms added to it fit 32 bits
// Bound of the offset and of x * factor[0] + r * factor[1], where x and r are less by 128 than in a
// TfliteAdd.
constexpr int32_t kLimit = 1 << 30;
constexpr int kPart = 15;   // bits of each part of a factor
constexpr int kAround = 2;  // neighbours of a factor that are tried, to each side
// Enlarging both factors moves sums that are exact halves away from zero, as the definition rounds
// them, and does not change other results.
constexpr double kEnlarged[] = {0, 0x1p-18, 0x1p-15, 0x1p-13, 0x1p-11};
constexpr int kEnlargements = sizeof kEnlarged / sizeof kEnlarged[0];
constexpr int kFew = 2;  // candidates that are tried before the others
constexpr int kCandidates = kEnlargements + (2 * kAround + 1) * (2 * kAround + 1);

struct Candidate {
  int32_t factor[2];
  int right;
  int32_t least, most;  // bounds of the offsets that are right for all pairs so far
};

double power(int exponent) {
  double p = 1;
  for (; exponent > 0; --exponent) p *= 2;
  for (; exponent < 0; ++exponent) p /= 2;
  return p;
}
double factor_of(const TfliteScale& input, const TfliteScale& sum) {
  return (double)input.multiplier * power(input.shift - 31) * (double)sum.multiplier *
         power(sum.shift - 31 + 20);
}

// The zero point of an input as an unsigned byte, less 128.
int32_t zero_of(int32_t zero_point, ElementType type) {
  return zero_point - (type == ElementType::kU8 ? 128 : 0);
}

// Returns how many there are, all of the finest precision whose offset is within kLimit.
int write_candidates(const double (&factor)[2], const Epilogue& f, Candidate* to) {
  const double offset = f.zero_point - factor[0] * zero_of(f.intermediate_zero_point, f.dst_type) -
                        factor[1] * zero_of(f.residual_zero_point, f.residual_type);
  int right = 0, count = 0;
  const auto fits = [&](int shift) {
    const double sum = (factor[0] + factor[1]) * 128, enlarged = 1 + kEnlarged[kEnlargements - 1];
    return (sum + 1) * power(shift) * enlarged + 128 * (2 * kAround + 4) < kLimit &&
           ((offset < 0 ? -offset : offset) + 1) * power(shift) * enlarged < kLimit;
  };
  if (!fits(0)) return 0;
  while (right < kMostRight && fits(right + 1)) ++right;
  const auto add = [&](double p, double q) {
    if (p >= 0 && q >= 0)
      to[count++] = {{(int32_t)(p + 0.5), (int32_t)(q + 0.5)}, right, -kLimit, kLimit - 1};
  };
  const double p = factor[0] * power(right), q = factor[1] * power(right);
  for (const double more : kEnlarged) add(p * (1 + more), q * (1 + more));
  for (int i = -kAround; i <= kAround; ++i)
    for (int j = -kAround; j <= kAround; ++j) add(p + i, q + j);
  return count;
}

// Narrows a candidate's offsets by product value x with every residual value, all less by 128 than
// in a TfliteAdd.
void keep_offsets(const int32_t (&outputs)[256], int32_t lo, int32_t hi, int32_t x, Candidate* c) {
  int32_t least = c->least, most = c->most, sum = x * c->factor[0] - 128 * c->factor[1];
  const int32_t step = c->factor[1], right = c->right;
  for (int32_t r = 0; r < 256; ++r, sum += step) {
    const int32_t from = (int32_t)((uint32_t)outputs[r] << right) - sum,
                  to = from + (1 << right) - 1;
    // At a bound of the clamp, any sum beyond it is right, too
    const int32_t above = outputs[r] > lo ? from : -kLimit,
                  below = outputs[r] < hi ? to : kLimit - 1;
    least = above > least ? above : least;
    most = below < most ? below : most;
  }
  c->least = least;
  c->most = most;
}

// The offset by which zero points and one rounding of halves upwards take the place of an offset.
int64_t rounding_offset(const Epilogue& f, const Candidate& c) {
  return ((int64_t)f.zero_point * 2 + 1) * ((int64_t)1 << c.right >> 1) -
         (int64_t)c.factor[0] * zero_of(f.intermediate_zero_point, f.dst_type) -
         (int64_t)c.factor[1] * zero_of(f.residual_zero_point, f.residual_type);
}

// rounds: whether TfliteAdd::rounds is of use.
void write(const Epilogue& f, bool rounds, const Candidate& c, TfliteAdd* sum) {
  int left = 0;
  while ((c.factor[0] > c.factor[1] ? c.factor[0] : c.factor[1]) >> left >> kPart) ++left;
  for (int i = 0; i < 2; ++i) {
    sum->high[i] = (int16_t)(c.factor[i] >> left);
    sum->low[i] = (int16_t)(c.factor[i] & ((1 << left) - 1));
  }
  const uint32_t centered = (uint32_t)(c.factor[0] + c.factor[1]) * 128;
  const int64_t rounding = rounding_offset(f, c);
  // Differences of bytes are at most 255; their sums are to fit 16 bits
  const bool fits = ((int64_t)c.factor[0] + c.factor[1]) * 255 < (int64_t)32767 << c.right;
  sum->rounds = rounds && fits && c.right > 0 && rounding >= c.least && rounding <= c.most;
  sum->offset =
      (int32_t)((uint32_t)(sum->rounds ? rounding : ((int64_t)c.least + c.most) / 2) - centered);
  sum->left = left;
  sum->right = c.right;
}

// Finds a candidate that is right for all pairs: the first one or, with `rounds`, the first with
// TfliteAdd::rounds, if any.
bool choose(const Epilogue& f, bool rounds, Candidate* candidates, int count, TfliteAdd* sum) {
  const auto scaled = [](int32_t x, const TfliteScale& by) {
    return tflite_scale(x, by.multiplier, by.shift);
  };
  const int32_t residual_zero = zero_of(f.residual_zero_point, f.residual_type),
                product_zero = zero_of(f.intermediate_zero_point, f.dst_type);
  int32_t addend[256], outputs[256];
  for (int32_t r = 0; r < 256; ++r)
    addend[r] = scaled((r - 128 - residual_zero) * (1 << 20), f.residual_tflite);
  for (int32_t product = f.product_lo; product <= f.product_hi && count; ++product) {
    const int32_t scaled_product = scaled(product * (1 << 20), f.product_scale);
    for (int32_t r = 0; r < 256; ++r) {
      const int32_t out = scaled(scaled_product + addend[r], f.sum_scale);
      outputs[r] = out < f.lo - f.zero_point   ? f.lo
                   : out > f.hi - f.zero_point ? f.hi
                                               : out + f.zero_point;
    }
    int left = 0;
    for (int i = 0; i < count; ++i) {
      keep_offsets(outputs, f.lo, f.hi, product + product_zero, &candidates[i]);
      if (candidates[i].least <= candidates[i].most) candidates[left++] = candidates[i];
    }
    count = left;
  }
  for (int i = 0; i < count; ++i) {
    write(f, rounds, candidates[i], sum);
    if (!rounds || sum->rounds) break;
  }
  return count > 0;
}

// Checks all pairs of values that pass the product's clamp. False: there is no TfliteAdd. rounds:
// whether one with TfliteAdd::rounds is worth a longer search.
bool find_tflite_add(const Epilogue& f, bool rounds, TfliteAdd* sum) {
  Candidate candidates[kCandidates];
  const double factor[2] = {factor_of(f.product_scale, f.sum_scale),
                            factor_of(f.residual_tflite, f.sum_scale)};
  const int count = write_candidates(factor, f, candidates);
  // One of the first few is often right, and then the others need no check
  const int few = count < kFew ? count : kFew;
  Candidate first[kFew];
  for (int i = 0; i < few; ++i) first[i] = candidates[i];
  const bool found = choose(f, rounds, first, few, sum);
  if (found && (!rounds || sum->rounds)) return true;
  return choose(f, rounds, candidates + few, count - few, sum) || found;
}

}  // namespace
}  // namespace octet
