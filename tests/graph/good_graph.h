// SPDX-License-Identifier: Apache-2.0
// A small graph that is as it should be, for tests that change it or run it without memory.
#pragma once

#include "graph/graph_case.h"

namespace octet_test {

// A convolution, its sum with the input, a product.
struct Good : GraphCase {
  int x, w, b, a, sum, y;
  Good() {
    x = input({1, 4, 4, 4}, OCTET_S8, 0.1f, 1);
    w = weights({4, 3, 3, 4}), b = bias(4);
    a = tensor({1, 4, 4, 4}, OCTET_S8, 0.2f), sum = tensor({1, 4, 4, 4}, OCTET_S8, 0.3f);
    y = tensor({1, 6}, OCTET_S8, 0.4f);
    op(Kind::kConvolution, {x, w, b}, a).window.padding = Padding::kSame;
    op(Kind::kAdd, {a, x}, sum);
    op(Kind::kProduct, {sum, weights({6, 64})}, y);
    g.outputs = {y};
  }
  Tensor& t(int index) { return g.tensors[(size_t)index]; }
};

}  // namespace octet_test
