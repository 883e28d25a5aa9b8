// Checks every algorithm of convolution on every usable tier against the contract.
#pragma once

#include <cstddef>
#include <string>

namespace tool {

struct ConvTally {
  size_t right, wrong;
};

// Prints a table. kernel: checks this one only; empty: each tier's choice.
ConvTally verify_conv(const std::string& kernel);

}  // namespace tool
