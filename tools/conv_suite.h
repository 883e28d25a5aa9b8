// The convolutions of real networks.
#pragma once

#include <string>
#include <vector>

#include "conv_shape.h"

namespace tool {

struct ConvCase {
  ConvShape shape;
  std::string network;  // where it comes from
  int count;            // how often it appears there
};

std::vector<std::string> conv_suite_names();
bool is_conv_suite(const std::string& name);
std::vector<ConvCase> conv_suite(const std::string& name);

}  // namespace tool
