// SPDX-License-Identifier: Apache-2.0
// Makes random choices for generated cases, and their data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>

namespace octet_test {

// SplitMix64's function of a state, and its next number.
inline uint64_t split_mixed(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}
inline uint64_t split_mix(uint64_t* state) { return split_mixed(*state += 0x9e3779b97f4a7c15u); }

// Numbers of 32 bits that a seed decides, as <random> takes them: data, of which there is much.
// Those of std::mt19937 took a sixth of conv_sides' time.
class Random {
 public:
  using result_type = uint32_t;
  static constexpr uint32_t min() { return 0; }
  static constexpr uint32_t max() { return UINT32_MAX; }

  explicit Random(uint32_t seed) : state_(split_mixed(seed)) {}
  uint32_t operator()() { return (uint32_t)split_mix(&state_); }

 private:
  uint64_t state_;
};

class Draw {
 public:
  explicit Draw(uint32_t seed) : random_(seed) {}
  size_t below(size_t n) { return random_() % n; }
  bool one_in(size_t n) { return below(n) == 0; }
  template <typename T>
  T any(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }

 private:
  std::mt19937 random_;
};

}  // namespace octet_test
