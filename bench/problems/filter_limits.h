// SPDX-License-Identifier: Apache-2.0
// Shows the effect of one limit for the packed bytes on all filters of a network.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "octet/octet.h"

namespace tool {

// Parses bytes (25000000, 24M) or "none" for no limit. Empty: 0, the library's own limit.
size_t parse_weights_max(const std::string& text);

class FilterLimits {
 public:
  FilterLimits(octet_isa isa, size_t bytes_max) : isa_(isa), bytes_max_(bytes_max) {}

  // Copies the filter and its zero points, not the weights. Packing checks it.
  void add(const octet_filter_desc& filter);
  // Call it after all were added. Throws, with the network's name, if the smallest packing exceeds
  // the limit.
  void apply(const std::string& network);

  size_t weight_bytes() const { return weight_bytes_; }
  size_t free_bytes() const { return free_bytes_; }      // packed without a limit
  size_t packed_bytes() const { return packed_bytes_; }  // packed with it
  // The cost of the limit: the predicted time of all filters with it over that without.
  double predicted_ratio() const { return free_us_ > 0 ? limited_us_ / free_us_ : 1; }

 private:
  octet_isa isa_;
  size_t bytes_max_;
  std::deque<octet_filter_desc> filters_;
  std::deque<std::vector<int32_t>> zero_points_;
  double free_us_ = 0, limited_us_ = 0;
  size_t weight_bytes_ = 0, free_bytes_ = 0, packed_bytes_ = 0;
};

}  // namespace tool
