// SPDX-License-Identifier: Apache-2.0
// Finds the numbers of sums in fixed point. The first ones come from the scales' ratios. While a
// few pairs of bytes have another result, the pair that is farthest off moves the numbers until its
// result is right, at the least distance from the numbers before, as a perceptron learns. One to
// three rounds suffice for nearly all scales. Scales of few digits, such as 0.0235 and 0.0471 of
// 0.051, have hundreds of sums on exact halves, which engines round as their errors fall: no
// numbers give that.
#include "operators/functions/fit.h"

#include <string.h>

#include "kernels/core/strict_float.h"

namespace octet {
namespace {

constexpr int kBytes = 256;
constexpr int kRounds = 5;
constexpr int kMostMisses = 32;      // more are no matter of a few units
constexpr int64_t kOffsetUnit = 64;  // of a change of the offset, as large as a byte's
constexpr int kMostShift = 30;
constexpr double kFactorLimit = 0x1p30;

// Sums in which enlarged factors take exact halves away from zero, as TensorFlow Lite rounds them.
// In units of 2^-shift: above rounding errors of factors that a power of two divides, and of all.
constexpr double kEnlarged[] = {0, 0x1p5, 0x1p10};

// A pair whose result is another: its values, and what its sum lacks.
struct Miss {
  int64_t a, b, lack;
};

int32_t value_of(const BinaryPlan& p, int tensor, uint8_t byte) {
  return (byte ^ p.flip[tensor]) - p.zero[tensor];
}

Miss miss_of(const BinaryPlan& p, uint8_t a, uint8_t b, uint8_t is, uint8_t wanted) {
  const int64_t x = value_of(p, 0, a), y = value_of(p, 1, b);
  const int64_t sum = x * p.multiplier[0] + y * p.multiplier[1] + p.offset;
  const int64_t unit = (int64_t)1 << p.shift[2], value = value_of(p, 2, wanted);
  const bool above = value_of(p, 2, is) < value;
  return {x, y, (above ? value * unit : value * unit + unit - 1) - sum};
}

int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

// The number of pairs with another result, and the one that is farthest off.
int compare(const SumToFit& sum, const BinaryPlan& p, Miss* farthest) {
  uint8_t a[kBytes], b[kBytes], wanted[kBytes], made[kBytes];
  for (int i = 0; i < kBytes; ++i) b[i] = (uint8_t)i;
  int misses = 0;
  *farthest = {};
  for (int i = 0; i < kBytes && misses <= kMostMisses; ++i) {
    memset(a, i, sizeof a);
    sum.exact_plan.body(sum.exact_plan, a, b, wanted, kBytes);
    p.body(p, a, b, made, kBytes);
    if (!memcmp(wanted, made, sizeof made)) continue;
    for (int j = 0; j < kBytes; ++j) {
      if (made[j] == wanted[j]) continue;
      ++misses;
      const Miss miss = miss_of(p, a[j], b[j], made[j], wanted[j]);
      if (magnitude(miss.lack) > magnitude(farthest->lack)) *farthest = miss;
    }
  }
  return misses;
}

// False: the numbers leave their ranges.
bool correct(const Miss& miss, BinaryPlan* p) {
  const int64_t length = miss.a * miss.a + miss.b * miss.b + kOffsetUnit * kOffsetUnit;
  const int64_t of_a = miss.lack * miss.a / length, of_b = miss.lack * miss.b / length;
  const int64_t a = p->multiplier[0] + of_a, b = p->multiplier[1] + of_b,
                offset = p->offset + miss.lack - of_a * miss.a - of_b * miss.b;
  const int64_t limit = (int64_t)1 << kMostShift;
  if (magnitude(a) >= limit || magnitude(b) >= limit || offset < 0 || offset > limit) return false;
  p->multiplier[0] = (int32_t)a, p->multiplier[1] = (int32_t)b, p->offset = (int32_t)offset;
  return true;
}

bool fit(const SumToFit& sum, double enlarged, BinaryPlan* p) {
  const double factor = (double)((int64_t)1 << p->shift[2]) + enlarged;
  for (int i = 0; i < 2; ++i) {
    const double x = sum.ratio[i] * factor;
    p->multiplier[i] = (int32_t)(x < 0 ? x - 0.5 : x + 0.5);
  }
  p->offset = (int32_t)(1 << (p->shift[2] - 1)) - (int32_t)(enlarged / 4);
  for (int round = 0; round < kRounds; ++round) {
    Miss miss;
    const int misses = compare(sum, *p, &miss);
    if (!misses) return true;
    if (misses > kMostMisses || !correct(miss, p)) return false;
  }
  return false;
}

}  // namespace

bool fit_sum(const SumToFit& sum, BinaryPlan* plan) {
  BinaryPlan p = *plan;
  const double a = sum.ratio[0] < 0 ? -sum.ratio[0] : sum.ratio[0],
               b = sum.ratio[1] < 0 ? -sum.ratio[1] : sum.ratio[1],
               largest = (a > b ? a : b) * (1 + 0x1p-4);
  int32_t shift = kMostShift;
  while (shift >= kFixedLow && largest * (double)((int64_t)1 << shift) >= kFactorLimit) --shift;
  if (shift < kFixedLow) return false;
  p.shift[2] = shift;
  for (const double enlarged : kEnlarged) {
    if (!fit(sum, enlarged, &p)) continue;
    *plan = p;
    return true;
  }
  return false;
}

}  // namespace octet
