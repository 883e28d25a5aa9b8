// Which lines each op of a chain computes in which band. The planner walks this for the sizes of
// rings, the executor to run.
#pragma once

#include "operators/network/network.h"

namespace octet {

// The lines of an input that output lines are made of, empty if of none.
LineRange lines_read(const octet_network& network, const NetworkOp& op, size_t input,
                     LineRange out);

// The lines of one image that a task has of the chain's last op: a run of those of all images that
// the part runs at once.
struct RowSlices {
  size_t h, step, units;

  RowSlices(const octet_network& network, const NetworkPart& part);
  // The piece that begins at unit `at` of a task's [index * step, ..); empty at the end.
  LineRange piece(size_t index, size_t at) const {
    const size_t end = smaller(units, (index + 1) * step);
    return at >= end ? LineRange{0, 0} : LineRange{at % h, at % h + smaller(end - at, h - at % h)};
  }
};

// Bands of one image, from the first line of a stripe to its last. In each band ops take their
// turn, in their order.
class BandWalk {
 public:
  // memory: words(part) values, its own while it lives.
  BandWalk(const octet_network& network, const NetworkPart& part, LineRange row_slice,
           size_t* memory);
  static constexpr size_t words(size_t ops) { return 7 * ops; }
  static size_t words(const NetworkPart& part) { return words(part.end - part.first); }

  bool next();  // the next band, if there is one
  // Of op `first + i`, in this band: to be computed; none if it has nothing to do.
  LineRange lines(size_t i) const { return {done_[i], until_[i]}; }
  void epilogue(size_t i) { done_[i] = until_[i]; }
  // The first line of a slot's home that an op is still to write or to read; SIZE_MAX: none.
  size_t oldest(size_t slot) const;
  // Where line 0 of a ring lies, so that writes of `step` lines, begun here, seldom wrap. In the
  // first band.
  size_t origin(size_t slot) const { return origin_[slot]; }

  // For who knows that bands come again: lines of op `first + i` that the stripe still wants, and
  // those of the last op; and as if bands with so many lines of each op were done.
  size_t left(size_t i) const { return end_[i] - done_[i]; }
  size_t left() const { return row_slice_.end - at_; }
  size_t done(size_t i) const { return done_[i]; }
  void skip(size_t i, size_t lines) { done_[i] += lines, until_[i] += lines; }
  void skip(size_t lines) { at_ += lines; }

 private:
  const NetworkOp& op(size_t i) const { return n_.ops[part_.first + i]; }
  const NetworkTensor& alias_root(size_t tensor) const {
    return n_.tensors[n_.tensors[tensor].alias_root];
  }
  bool in_full(size_t i) const;  // written outside of rings, and not the last op's
  void find_touched();
  void find_ends();
  void begin();
  void place_rings();

  const octet_network& n_;
  const NetworkPart& part_;
  const LineRange row_slice_;
  const size_t count_;
  size_t at_;  // lines of the last op that are done
  // Of each op: lines that are done, that are to be after this band, and after the last one (0: the
  // stripe wants nothing of the op).
  size_t *done_, *until_, *end_;
  // Of each slot; the first and the last op that write or read it.
  size_t *need_, *origin_, *first_, *last_;
};

}  // namespace octet
