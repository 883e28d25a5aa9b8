// SPDX-License-Identifier: Apache-2.0
// Makes random choices for generated cases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>

namespace octet_test {

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
