// SPDX-License-Identifier: Apache-2.0
// Computes the test cases, with integers.
#include "dispatch/self_test/cases.h"

#include "dispatch/self_test/exact_float.h"

namespace octet {
namespace {

// The scale of each of the kApart columns, and why it is hard.
constexpr Exact kScale[kApart] = {
    {1, -1},          // halves
    {1, -25},         // halves, where accumulators must be rounded to become floats
    {13981013, -24},  // 5/6: a half only once the product is rounded up
    {11184811, -26},  // 1/6: a half only once the product is rounded down
    {9895605, -39},   // an ordinary scale
    {9007199, -53},   // a very small scale
    {1, 0},           // both ends of the clamp
    {3, -2},          // the largest scale
};
constexpr Exact kResidual = {13981013, -24};
static_assert(value(kResidual) == kResidualScale, "one number, twice");

constexpr int32_t accumulator(size_t i, int32_t largest) {
  const int32_t turn = (int32_t)(i / kApart), odd = 2 * turn - 21;
  const int32_t any = (int32_t)((uint32_t)(turn + 1) * 2654435761u);
  switch (i % kApart) {
    case 0: return odd;
    case 1: return odd * (1 << 24) + turn % 3 - 1;
    case 2:
    case 3: return 3 * odd;
    case 4: return any / 256;
    case 5: return any;
    case 6: return 30 * (turn - 10);
    default: return turn % 2 ? -(largest >> turn / 2) : largest >> turn / 2;
  }
}

constexpr int64_t clamp(int64_t x, int64_t lo, int64_t hi) { return x < lo ? lo : x > hi ? hi : x; }
constexpr uint8_t byte_of(int64_t rounded, const Requantization& n) {
  return (uint8_t)clamp(rounded + n.zero_point, n.lo, n.hi);
}

}  // namespace

FloatCases::FloatCases(Accumulators accumulators) {
  const int32_t largest = accumulators == Accumulators::kAll ? INT32_MAX : 40000;
  for (size_t i = 0; i < kCases; ++i) {
    acc[i] = accumulator(i, largest);
    const Exact product = times(to_float({acc[i], 0}), kScale[i % kApart]);
    const int64_t whole = to_integer(product);
    u8[i] = byte_of(whole, kRequantizeU8);
    s8[i] = byte_of(whole, kRequantizeS8);
    if (i >= kTileColumns) continue;
    scale[i] = value(kScale[i % kApart]);
    rounded[i] = (int32_t)whole;

    // The residual is about as large as the product and has the other sign: an FMA in place of
    // either product would leave bits in the sum that the contract has rounded away.
    const int64_t opposite =
        clamp(-2 * whole / 5 * 3 + (int32_t)(i / kApart % 3 - 1) * 3, -128, 127);
    residual[i] = (uint8_t)(opposite + kResidualZeroPoint);
    sum[i] = byte_of(to_integer(plus(product, times({opposite, 0}, kResidual))), kRequantizeU8);
    const Exact added = to_float({-whole, 0});
    bias[i] = value(added);
    f32[i] = value(plus(product, added));
  }
}

namespace {

// gemmlowp's two steps. Halves go towards plus infinity in the first, away from zero in the second.
constexpr int64_t doubling_high_mul(int64_t x, int64_t multiplier) {
  return (x * multiplier + power_of_2(30)) >> 31;
}
constexpr int64_t divide_by_power(int64_t x, int exponent) {
  const int64_t half = power_of_2(exponent) / 2, size = (x < 0 ? -x : x) + half;
  return x < 0 ? -(size >> exponent) : size >> exponent;
}

}  // namespace

TfliteCases::TfliteCases(const Requantization& requantization) {
  // With 2^30 negative halves are not to be had by floats. In column kNear their product is so near
  // below an integer that a float would round to it.
  constexpr int32_t kMultiplier[] = {1 << 30, INT32_MAX, 1518500250, (1 << 30) + 1};
  constexpr size_t kNear = 33;
  const TfliteForm form = requantization.tflite_form;
  const bool floats = form == TfliteForm::kFloats || form == TfliteForm::kFloatsUp;
  for (size_t j = 0; j < kTileColumns; ++j) {
    const int32_t shift = (form == TfliteForm::kAll ? 2 : -1) - (int32_t)(j / 4),
                  left = shift > 0 ? shift : 0, right = left - shift;
    const int32_t odd = 2 * (int32_t)(j % 7) + 1, size = j % 16 == 15 ? 1 << 28 : odd << right;
    // One less is a half in the first step. A positive one becomes a half in the second step too,
    // which a single rounding does not see; a negative one finds kernels that round the first step
    // away from zero.
    const int32_t less = right > 0 && j % 4 == 0 ? 1 : 0;
    acc[j] = (j + j / 4) % 2 ? less - size : size - less;
    multiplier[j] = kMultiplier[floats && j % 4 == 0 ? 3 : j % 4];
    if (floats && j == kNear) acc[j] = 95459, multiplier[j] = 1134527085;
    this->shift[j] = shift;
    const int64_t high = doubling_high_mul(acc[j] * power_of_2(left), multiplier[j]);
    bytes[j] = byte_of(divide_by_power(high, right), requantization);
    if (floats) {
      const float unit = value({1, shift - 31});
      write_tflite_floats({(float)(multiplier[j] & ~127) * unit,
                           (float)(multiplier[j] & 127) * unit, 0.5f + value({1, shift - 1})},
                          rows + j, kTileColumns);
      continue;
    }
    write_tflite_column(multiplier[j], shift, rows + j, kTileColumns);
  }
}

Operands::Operands() {
  static constexpr uint8_t kExtreme[] = {0x80, 0xff, 0x80, 0x7f};
  static_assert(sizeof *this == sizeof lhs + sizeof rhs, "bytes and nothing else");
  uint32_t state = 1;
  for (size_t i = 0; i < sizeof *this; ++i) {
    state = state * 1664525 + 1013904223;
    // Without a branch, which CPUs could not predict
    const uint32_t extreme = 0u - ((state >> 16 & 3) == 0);
    ((uint8_t*)this)[i] =
        (uint8_t)((kExtreme[state >> 18 & 3] & extreme) | (state >> 24 & ~extreme));
  }
}

}  // namespace octet
