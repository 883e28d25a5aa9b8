// What the command line calls a case: a product, a convolution, or a suite of either.
#pragma once

#include <string>
#include <vector>

#include "conv_suite.h"
#include "gemm_suite.h"

namespace tool {

// Cases of one kind that are timed, printed and summed up together.
struct CaseGroup {
  std::string name;  // the suite's; "products" or "convolutions" for cases given one by one
  std::vector<GemmCase> products;
  std::vector<ConvCase> convolutions;
};

// Throws what is wrong with a name.
std::vector<CaseGroup> parse_cases(const std::vector<std::string>& names);
std::vector<CaseGroup> parse_conv_cases(const std::vector<std::string>& names);  // refuses products

}  // namespace tool
