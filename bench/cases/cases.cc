// SPDX-License-Identifier: Apache-2.0
// Parses the cases of the command line.
#include "bench/cases/cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "bench/cases/network.h"

namespace tool {
namespace {

bool is_digit(char c) { return std::isdigit((unsigned char)c) != 0; }

// A convolution's name is made of fields, and the first one has its number right behind it.
bool looks_like_conv(const std::string& name) {
  if (name.empty() || is_digit(name[0])) return false;
  return name.find_first_of("0123456789") <= 3;
}

// The group that a single case joins: the last group, if it has the case's kind.
CaseGroup& group(std::vector<CaseGroup>* groups, const char* name) {
  if (groups->empty() || groups->back().name != name) groups->push_back({name, {}, {}, ""});
  return groups->back();
}

}  // namespace

GemmCase parse_product(const std::string& name, const std::string& network) {
  if (size_t mnk[3]; parse_triple(name, mnk)) return {{mnk[0], mnk[1], mnk[2]}, network, 1};
  throw Error(
      fmt::format("'{}' is not a case: give MxNxK, such as 128x768x3072, a convolution, such as "
                  "mb1_ic64oc64_ih56oh56kh3sh1ph1, a network's description, such as network.json, "
                  "or a suite: gemm, {}",
                  name, fmt::join(conv_suite_names(), ", ")));
}

OperandTypes conv_types(const CaseGroup& group, const std::vector<std::string>& named) {
  return parse_types(!named.empty() ? named[0] : group.types.empty() ? "u8s8u8" : group.types);
}

std::vector<CaseGroup> parse_cases(const std::vector<std::string>& names) {
  std::vector<CaseGroup> groups;
  for (const std::string& name : names) {
    if (name == "gemm") {
      groups.push_back({name, gemm_suite(), {}, ""});
    } else if (is_conv_suite(name)) {
      groups.push_back({name, {}, conv_suite(name), ""});
    } else if (is_network_file(name)) {
      const std::vector<CaseGroup> network = read_network(name);
      groups.insert(groups.end(), network.begin(), network.end());
    } else if (looks_like_conv(name)) {
      group(&groups, "convolutions").convolutions.push_back({parse_conv(name), "", 1});
    } else {
      group(&groups, "products").products.push_back(parse_product(name, ""));
    }
  }
  return groups;
}

std::vector<CaseGroup> convolutions_of(std::vector<CaseGroup> groups) {
  const auto products_of_a_network = [](const CaseGroup& group) {
    return !group.types.empty() && !group.products.empty();
  };
  groups.erase(std::remove_if(groups.begin(), groups.end(), products_of_a_network), groups.end());
  for (const CaseGroup& group : groups)
    if (!group.products.empty())
      throw Error(
          fmt::format("only convolutions here, no products: {}", group.products[0].shape.name()));
  return groups;
}

}  // namespace tool
