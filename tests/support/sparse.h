// SPDX-License-Identifier: Apache-2.0
// Makes weights of which at most two of four are not zero, in every place by turns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace octet_test {

// The sets of at most two of four places, pairs more often.
constexpr unsigned kSparsePlaces[] = {0x3, 0x5, 0x9, 0x6, 0xa, 0xc, 0x1, 0x2, 0x3,
                                      0x5, 0x9, 0x6, 0xa, 0xc, 0x4, 0x8, 0x0};

// Makes `count` weights, `stride` apart, 2:4; the first begins a group. The remaining weights are
// near enough to the zero point for sparse packing.
inline void make_sparse(int32_t* weights, size_t count, size_t stride, int32_t zero, size_t turn) {
  for (size_t k = 0; k < count; ++k) {
    int32_t& w = weights[k * stride];
    const unsigned places = kSparsePlaces[(turn + k / 4) % std::size(kSparsePlaces)];
    w = places >> k % 4 & 1 ? std::clamp(w, zero - 128, zero + 127) : zero;
  }
}

}  // namespace octet_test
