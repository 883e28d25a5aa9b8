// Turns the addition behind a convolution into its residual, in TFLite mode.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/machine/api.h"
#include "octet/network.h"

namespace tool {

// A convolution of a network that may take an addition in: its descriptor, with the arrays that
// desc points to.
struct FusableConvolution {
  size_t op;      // the op that runs it
  size_t object;  // among the network's
  octet_conv2d_desc desc;
  std::vector<int32_t> bias, multipliers, shifts;
};

// Every op that is TFLite's ADD of a convolution's result, which no other op reads and which is not
// kept, becomes that convolution with the other input as its residual. If both inputs are results
// of convolutions, the later one takes the addition. No output byte changes. An addition stays a
// function if the library refuses the residual. Replaces objects, and returns the places in `ops`
// of the ops that were erased, in rising order. `convolutions` is used up.
std::vector<size_t> fuse_residuals(const std::vector<octet_network_tensor>& tensors,
                                   std::vector<FusableConvolution>* convolutions,
                                   std::vector<Conv>* objects, std::vector<octet_network_op>* ops);

}  // namespace tool
