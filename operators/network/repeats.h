// SPDX-License-Identifier: Apache-2.0
// Skips bands in the middle of an image, which repeat except for their position: the planner walks
// only a few bands, however tall the image is.
#pragma once

#include "operators/network/schedule.h"

namespace octet {

class Repeats {
 public:
  // memory: values(part) values, owned while this object lives.
  Repeats(const octet_network& network, const NetworkPart& part, size_t* memory);
  static constexpr size_t values(size_t ops) { return 3 * ops; }

  // Call after each band: skips the following bands that do the same one period further down.
  void after_band(BandWalk* walk);

 private:
  // Lines of a slot's tensor per line of the last op, as a fraction.
  struct Rate {
    size_t lines, of;
  };
  bool find_rates();
  bool set_rate(size_t slot, Rate rate);
  const NetworkOp& op(size_t i) const { return n_.ops[part_.first + i]; }
  bool as_before(const BandWalk& walk);

  const octet_network& n_;
  const NetworkPart& part_;
  const size_t count_;
  size_t period_ = 0;  // bands after which all ops have moved by whole lines; 0: not known
  size_t bands_ = 0;
  // lines_, of_: per slot, lines in a period, at first as a fraction. done_: per op, lines done at
  // the end of the last period.
  size_t *lines_, *of_, *done_;
};

}  // namespace octet
