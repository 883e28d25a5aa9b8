// SPDX-License-Identifier: Apache-2.0
// The lines that each op of a chain computes in each band. The planner walks them to size the
// rings, the executor to run.
#pragma once

#include "operators/network/network.h"

namespace octet {

// The lines of an input that output lines read; empty if they read none.
LineRange lines_read(const octet_network& network, const NetworkOp& op, size_t input,
                     LineRange out);

// Calls visit(op, lines) for a chain's ops, the last one first: the lines that lines `last` of the
// last op need of each, of its output. lines: memory for one value per tensor; the needed lines of
// alias roots that the chain writes stay there.
template <typename Visit>
void for_each_needed(const octet_network& n, const NetworkPart& part, LineRange last,
                     LineRange* lines, const Visit& visit) {
  for (size_t i = part.first; i < part.end; ++i)
    lines[n.tensors[n.ops[i].output].alias_root] = {SIZE_MAX, 0};
  lines[n.tensors[n.ops[part.end - 1].output].alias_root] = last;
  for (size_t i = part.end; i-- > part.first;) {
    const NetworkOp& op = n.ops[i];
    const LineRange out = lines[n.tensors[op.output].alias_root];
    visit(i, out);
    if (out.end <= out.first) continue;
    for (size_t k = 0; k < op.input_count; ++k) {
      const LineRange in = lines_read(n, op, k, out);
      if (!in.count()) continue;
      LineRange& needed = lines[n.tensors[op.inputs[k]].alias_root];
      needed = {smaller(needed.first, in.first), larger(needed.end, in.end)};
    }
  }
}

// The output lines of a chain's last op, counted through all images that the part runs at once.
// Each task has `step` of them and takes them image by image.
struct RowSlices {
  size_t h, step, units;

  RowSlices(const octet_network& network, const NetworkPart& part);
  // The lines of one image that task `index` has from unit `at` on; empty at the end.
  LineRange piece(size_t index, size_t at) const {
    const size_t end = smaller(units, (index + 1) * step);
    return at >= end ? LineRange{0, 0} : LineRange{at % h, at % h + smaller(end - at, h - at % h)};
  }
};

// The bands of one image, from the first line of a row slice to its last. In each band the ops run
// in order.
class BandWalk {
 public:
  // memory: values(part) values, owned while this object lives.
  BandWalk(const octet_network& network, const NetworkPart& part, LineRange row_slice,
           size_t* memory);
  static constexpr size_t values(size_t ops) { return 7 * ops; }
  static size_t values(const NetworkPart& part) { return values(part.end - part.first); }

  bool next();  // goes to the next band; false if there is none
  // The lines that op `first + i` computes in this band; may be empty.
  LineRange lines(size_t i) const { return {done_[i], until_[i]}; }
  void mark_done(size_t i) { done_[i] = until_[i]; }
  // The first line of a slot's tensor that an op will still write or read, where so many lines of
  // each op are done; SIZE_MAX: none.
  size_t oldest(size_t slot, const size_t* done) const;
  size_t oldest(size_t slot) const { return oldest(slot, done_); }
  // The position of line 0 in a ring: with it, writes of `step` lines seldom wrap. For the first
  // band.
  size_t origin(size_t slot) const { return origin_[slot]; }

  // For Repeats: the lines that the row slice still needs of op `first + i`, and of the last op;
  // and a skip over bands with so many lines of each op.
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
  // the op writes a whole tensor: no ring, and not the output of the last op
  bool in_full(size_t i) const;
  void find_touched();
  void find_ends();
  void begin();
  void place_rings();

  const octet_network& n_;
  const NetworkPart& part_;
  const LineRange row_slice_;
  const size_t count_;
  size_t at_;  // lines of the last op that are done
  // Per op: lines done, lines done after this band, and after the last band (0: the row slice needs
  // none).
  size_t *done_, *until_, *end_;
  // Per slot: need_ and origin_; first_ and last_ are the first and the last op that use it.
  size_t *need_, *origin_, *first_, *last_;
};

}  // namespace octet
