// Bands in the middle of an image are alike, but for where they lie: a planner walks a few of them,
// however long the image is.
#pragma once

#include "operators/network/schedule.h"

namespace octet {

class Repeats {
 public:
  // memory: words(part) values, its own while it lives.
  Repeats(const octet_network& network, const NetworkPart& part, size_t* memory);
  static constexpr size_t words(size_t ops) { return 4 * ops; }

  // After each band: leaves those out that do what was just done, further below.
  void after_band(BandWalk* walk);

 private:
  // Lines of a slot's home for each line of the last op, as a fraction.
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
  size_t period_ = 0;  // bands after which all ops are whole lines further; 0: none is known
  size_t bands_ = 0;
  // Of each slot: lines in a period, first a fraction with `of_`. At the last period's end: of each
  // op the lines done, of each slot the oldest line.
  size_t *lines_, *of_, *done_, *oldest_;
};

}  // namespace octet
