// SPDX-License-Identifier: Apache-2.0
// Checks whether a convolution is right. It is written from the numeric contract alone, without the
// library.
#pragma once

#include <vector>

#include "bench/problems/contract.h"
#include "bench/problems/conv_data.h"

namespace tool {

// The contract's outputs at some output pixels, all channels each: at every pixel of a small
// output; of a large one at its corners and at pixels spread over it, a quarter of them on its
// border. The data must outlive it.
class ConvReference {
 public:
  explicit ConvReference(const ConvData& data);

  // tolerance: how far an 8-bit output may be from the contract (for peers, whose rounding
  // differs).
  Verdict check(const void* dst, int tolerance = 0) const;
  double largest_difference(const void* dst) const;  // for approximate algorithms

 private:
  std::vector<double> outputs_at(size_t pixel) const;

  const ConvData& data_;
  std::vector<size_t> pixels_;   // (image * out_h + y) * out_w + x
  std::vector<double> outputs_;  // out_channels for each
};

}  // namespace tool
