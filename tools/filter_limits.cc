#include "filter_limits.h"

#include <fmt/format.h>

#include <stdexcept>

#include "api.h"
#include "candidates.h"

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
  if (text == "none" || text == "0") return SIZE_MAX;
  const std::string digits = text.substr(0, text.find_first_not_of("0123456789")),
                    unit = text.substr(digits.size());
  const size_t factor = unit.empty() ? 1 : unit == "K" ? 1 << 10 : unit == "M" ? 1 << 20 : 0;
  size_t bytes = 0;
  try {
    bytes = std::stoull(digits);
  } catch (const std::exception&) {
  }
  if (!bytes || !factor || __builtin_mul_overflow(bytes, factor, &bytes))
    throw Error(
        fmt::format("'{}' is no limit of weights: bytes, such as 25000000 or 24M, or none", text));
  return bytes;
}

void FilterLimits::add(const octet_filter_desc& filter) {
  size_t bytes = 0;
  const bool refused = octet_conv2d_pack_size(&filter, isa_, &bytes, nullptr) != OCTET_OK;
  added_.push_back(refused ? SIZE_MAX : filters_.size());
  if (refused) return;
  const octet_conv2d_shape& s = filter.shape;
  weight_bytes_ += s.kernel_h * s.kernel_w * (s.in_channels / s.groups) * s.out_channels;
  free_bytes_ += bytes;
  zero_points_.emplace_back(filter.zero_points, filter.zero_points + filter.zero_point_count);
  filters_.push_back(filter);
  filters_.back().data = nullptr;
  if (filter.zero_point_count) filters_.back().zero_points = zero_points_.back().data();
}

size_t FilterLimits::next() {
  const size_t filter = added_.at(next_++);
  return filter == SIZE_MAX ? 0 : filters_[filter].packed_bytes_max;
}

void FilterLimits::apply() {
  std::vector<octet_filter_desc*> pointers;
  for (octet_filter_desc& filter : filters_) pointers.push_back(&filter);
  octet_error error = {};
  check(octet_conv2d_limit_packed(pointers.data(), pointers.size(), isa_, bytes_max_,
                                  &packed_bytes_, &error),
        error);
  for (octet_filter_desc filter : filters_) {
    limited_us_ += predicted_us(filter, isa_);
    filter.packed_bytes_max = 0;
    free_us_ += predicted_us(filter, isa_);
  }
}

}  // namespace tool
