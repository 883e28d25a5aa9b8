// SPDX-License-Identifier: Apache-2.0
// Makes the input of a fuzz target a source of choices. Its bytes decide everything, so that
// libFuzzer's mutations and the seeded driver lead the same bodies. After its end an input
// continues with zeros, the plainest choice everywhere.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "support/draw.h"

namespace octet_fuzz {

// SplitMix64, for the many values that need no byte of input each.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t operator()() { return octet_test::split_mix(&state_); }
  size_t below(size_t n) { return (size_t)((*this)() >> 16) % n; }

 private:
  uint64_t state_;
};

class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : next_(data), end_(data + size) {}

  uint64_t bits(int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes && next_ < end_; ++i) value |= uint64_t{*next_++} << 8 * i;
    return value;
  }
  size_t below(size_t n) { return (size_t)(bits(n <= 256 ? 1 : 4) % n); }
  // True for the last of n values, so that an ended input chooses the common case.
  bool one_in(size_t n) { return below(n) == n - 1; }
  template <typename T>
  T any(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }
  int32_t between(int32_t lo, int32_t hi) {
    return (int32_t)(lo + (int64_t)below((size_t)(int64_t{hi} - lo + 1)));
  }
  Random random() { return Random(bits(4)); }

  // 1 .. most; sizes beside those of tiles, panels and vectors come often.
  size_t size(size_t most) {
    constexpr size_t kEdges[] = {4, 6, 8, 12, 14, 16, 24, 32, 48, 64, 96, 128, 256};
    const size_t kind = below(4);
    size_t n = 1 + below(8);
    if (kind == 2) n = 1 + below(most);
    if (kind == 3) n = kEdges[below(sizeof kEdges / sizeof *kEdges)] - 1 + below(3);
    return std::min(n, most);
  }

  // An absurd value, or one beside a limit.
  uint64_t odd() {
    constexpr uint64_t kBits[] = {0, 7, 8, 15, 16, 30, 31, 32, 48, 61, 62, 63};
    constexpr uint64_t kLimits[] = {33025, 65793, 131071, 8421504, SIZE_MAX / 255};
    const size_t kind = below(4);
    if (kind == 0) return below(20);
    if (kind == 1)
      return (uint64_t{1} << kBits[below(sizeof kBits / sizeof *kBits)]) + below(3) - 1;
    if (kind == 2) return kLimits[below(sizeof kLimits / sizeof *kLimits)] + below(3) - 1;
    return bits(8);
  }

 private:
  const uint8_t *next_, *end_;
};

}  // namespace octet_fuzz
