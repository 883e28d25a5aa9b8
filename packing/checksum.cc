// SPDX-License-Identifier: Apache-2.0
// Fletcher's checksum in vectors.
#include "packing/checksum.h"

#include <string.h>

namespace octet {
namespace {

typedef uint64_t Pairs __attribute__((vector_size(16)));  // two pairs of words

// Sums of every other vector of the data. A pair of words is added as one 64-bit value, and its
// upper word once more by itself, so that it can be subtracted from the pair's sum in the end. This
// takes fewer instructions than splitting each pair.
struct Lane {
  Pairs pair = {}, pair_weighted = {}, upper = {}, upper_weighted = {};

  void add(const uint8_t* data) {
    Pairs pairs;
    memcpy(&pairs, data, sizeof pairs);
    pair += pairs;
    pair_weighted += pair;
    upper += pairs >> 32;
    upper_weighted += upper;
  }

  // A word that came t steps before the end has weight t in this lane. In the checksum its weight
  // is the words of t steps minus the words before it in its own step.
  void add_to(Checksum* c, size_t step_words, size_t first_word) const {
    for (size_t i = 0; i < 2; ++i) {
      const uint64_t lower = pair[i] - (upper[i] << 32),
                     lower_weighted = pair_weighted[i] - (upper_weighted[i] << 32);
      const size_t word = first_word + 2 * i;
      c->sum += lower + upper[i];
      c->weighted +=
          step_words * (lower_weighted + upper_weighted[i]) - word * lower - (word + 1) * upper[i];
    }
  }
};

}  // namespace

Checksum checksum(const void* data, size_t bytes) {
  constexpr size_t kStep = 2 * sizeof(Pairs), kWord = sizeof(uint32_t);
  const uint8_t* p = (const uint8_t*)data;
  Lane even, odd;
  for (; bytes >= kStep; bytes -= kStep, p += kStep) {
    even.add(p);
    odd.add(p + sizeof(Pairs));
  }
  Checksum c = {};
  even.add_to(&c, kStep / kWord, 0);
  odd.add_to(&c, kStep / kWord, sizeof(Pairs) / kWord);
  for (; bytes; bytes -= kWord, p += kWord) {
    uint32_t word;
    memcpy(&word, p, sizeof word);
    c.sum += word;
    c.weighted += c.sum;
  }
  return c;
}

}  // namespace octet
