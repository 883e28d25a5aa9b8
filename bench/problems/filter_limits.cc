// SPDX-License-Identifier: Apache-2.0
// Adds up filters, and asks octet_conv2d_limit_packed for the limit of each.
#include "bench/problems/filter_limits.h"

#include <fmt/format.h>

#include <stdexcept>

#include "bench/machine/api.h"
#include "bench/problems/candidates.h"

namespace tool {

namespace {

double predicted_us(const octet_filter_desc& filter, octet_isa isa) {
  for (const octet_conv2d_candidate& c : candidates(filter, isa))
    if (c.chosen) return c.microseconds;
  return 0;
}

}  // namespace

size_t parse_weights_max(const std::string& text) {
  if (text.empty()) return 0;
  if (text == "none") return SIZE_MAX;
  const std::string digits = text.substr(0, text.find_first_not_of("0123456789")),
                    unit = text.substr(digits.size());
  const size_t factor = unit.empty() ? 1 : unit == "K" ? 1 << 10 : unit == "M" ? 1 << 20 : 0;
  unsigned long long number = 0;
  size_t bytes = 0;
  try {
    number = std::stoull(digits);
  } catch (const std::exception&) {
  }
  if (!number || !factor || __builtin_mul_overflow(number, factor, &bytes))
    throw Error(
        fmt::format("'{}' is no limit of weights: bytes, such as 25000000 or 24M, or none", text));
  return bytes;
}

void FilterLimits::add(const octet_filter_desc& filter) {
  size_t bytes = 0;
  if (octet_conv2d_pack_size(&filter, isa_, &bytes, nullptr) != OCTET_OK) return;
  const octet_conv2d_shape& s = filter.shape;
  weight_bytes_ += s.kernel_h * s.kernel_w * (s.in_channels / s.groups) * s.out_channels;
  free_bytes_ += bytes;
  zero_points_.emplace_back(filter.zero_points, filter.zero_points + filter.zero_point_count);
  filters_.push_back(filter);
  filters_.back().data = nullptr;
  if (filter.zero_point_count) filters_.back().zero_points = zero_points_.back().data();
}

void FilterLimits::apply(const std::string& network) {
  std::vector<octet_filter_desc*> pointers;
  for (octet_filter_desc& filter : filters_) pointers.push_back(&filter);
  octet_error error = {};
  if (octet_conv2d_limit_packed(pointers.data(), pointers.size(), isa_, bytes_max_, &packed_bytes_,
                                &error)) {
    const std::string argument = "bytes_max", message = error.message;
    const bool of_argument = message.rfind(argument, 0) == 0;  // the command has other names
    throw Error(
        fmt::format("{}: {}", network,
                    of_argument ? "--weights-max" + message.substr(argument.size()) : message));
  }
  for (octet_filter_desc filter : filters_) {
    limited_us_ += predicted_us(filter, isa_);
    filter.packed_bytes_max = 0;
    free_us_ += predicted_us(filter, isa_);
  }
}

}  // namespace tool
