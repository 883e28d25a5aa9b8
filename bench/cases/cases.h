// SPDX-License-Identifier: Apache-2.0
// Turns a case of the command line into a list: a product, a convolution, a suite of either, or a
// network's description.
#pragma once

#include <string>
#include <vector>

#include "bench/cases/conv_suite.h"
#include "bench/cases/gemm_suite.h"
#include "bench/problems/operands.h"

namespace tool {

// Cases of one kind that are timed, printed and summed up together.
struct CaseGroup {
  std::string name;  // the suite's; "products" or "convolutions" for cases given one by one
  std::vector<GemmCase> products;
  std::vector<ConvCase> convolutions;
  std::string types;  // a network's own; empty: the caller's
};

// Throws Error for a bad name.
std::vector<CaseGroup> parse_cases(const std::vector<std::string>& names);
// Refuses products, and leaves out the products of networks.
std::vector<CaseGroup> convolutions_of(std::vector<CaseGroup> groups);
// The caller's first types, else the network's, else u8s8u8.
OperandTypes conv_types(const CaseGroup& group, const std::vector<std::string>& named);
GemmCase parse_product(const std::string& name, const std::string& network);

}  // namespace tool
