// SPDX-License-Identifier: Apache-2.0
// Computes the lines of each op of a chain, band by band.
#include "operators/network/schedule.h"

namespace octet {
namespace {

LineRange lines_of_function(const octet_network_function& f, size_t h, LineRange out) {
  if (f.kernel_h == 0) return {0, h};
  const size_t top = out.first * f.stride_h, bottom = (out.end - 1) * f.stride_h + f.kernel_h;
  if (bottom <= f.pad_top) return {0, 0};
  LineRange in = {top > f.pad_top ? (top - f.pad_top) / f.repeat_h : 0,
                  (bottom - f.pad_top - 1) / f.repeat_h + 1};
  in.end = smaller(in.end, h);
  in.first = smaller(in.first, in.end);
  return in;
}

}  // namespace

LineRange lines_read(const octet_network& n, const NetworkOp& op, size_t input, LineRange out) {
  const size_t h = n.tensors[op.inputs[input]].h;
  if (op.conv && input == 0)
    return input_lines(op.conv->plan.shape, op.conv->plan.shape.pad_top, h, out);
  return op.conv || op.gemm ? out : lines_of_function(op.function, h, out);
}

RowSlices::RowSlices(const octet_network& n, const NetworkPart& part) {
  const NetworkTensor& last = n.tensors[n.ops[part.end - 1].output];
  h = last.h;
  units = images_of(part, last) * h;
  step = divide_up(units, part.tasks);
}

BandWalk::BandWalk(const octet_network& n, const NetworkPart& part, LineRange row_slice,
                   size_t* memory)
    : n_(n),
      part_(part),
      row_slice_(row_slice),
      count_(part.end - part.first),
      at_(row_slice.first),
      done_(memory),
      until_(memory + count_),
      end_(memory + 2 * count_),
      need_(memory + 3 * count_),
      origin_(memory + 4 * count_),
      first_(memory + 5 * count_),
      last_(memory + 6 * count_) {
  find_touched();
  find_ends();
  begin();
}

bool BandWalk::in_full(size_t i) const {
  return !alias_root(op(i).output).is_ring && op(i).out_slot != op(count_ - 1).out_slot;
}

void BandWalk::find_touched() {
  for (size_t s = 0; s < count_; ++s) first_[s] = count_, last_[s] = 0;
  for (size_t i = 0; i < count_; ++i) {
    const NetworkOp& o = op(i);
    const auto touch = [&](size_t slot) {
      if (slot == kNoSlot) return;
      first_[slot] = smaller(first_[slot], i);
      last_[slot] = i;
    };
    touch(o.out_slot);
    for (size_t k = 0; k < o.input_count; ++k) touch(o.in_slots[k]);
  }
}

// Finds the last line that the row slice needs of each op.
void BandWalk::find_ends() {
  for (size_t s = 0; s < count_; ++s) need_[s] = 0;
  need_[op(count_ - 1).out_slot] = row_slice_.end;
  for (size_t i = count_; i-- > 0;) {
    const NetworkOp& o = op(i);
    end_[i] = in_full(i) ? n_.tensors[o.output].h : need_[o.out_slot];
    if (end_[i] == 0) continue;
    for (size_t k = 0; k < o.input_count; ++k) {
      if (o.in_slots[k] == kNoSlot) continue;
      size_t& need = need_[o.in_slots[k]];
      const LineRange read = lines_read(n_, o, k, {0, end_[i]});
      if (read.count()) need = larger(need, read.end);
    }
  }
}

// Finds the first line that the row slice needs of each op.
void BandWalk::begin() {
  for (size_t s = 0; s < count_; ++s) need_[s] = SIZE_MAX, origin_[s] = SIZE_MAX;
  need_[op(count_ - 1).out_slot] = row_slice_.first;
  for (size_t i = count_; i-- > 0;) {
    const NetworkOp& o = op(i);
    done_[i] = until_[i] = in_full(i) ? 0 : smaller(need_[o.out_slot], end_[i]);
    if (done_[i] == end_[i]) continue;
    for (size_t k = 0; k < o.input_count; ++k) {
      if (o.in_slots[k] == kNoSlot) continue;
      size_t& need = need_[o.in_slots[k]];
      need = smaller(need, lines_read(n_, o, k, {done_[i], done_[i] + 1}).first);
    }
  }
}

bool BandWalk::next() {
  if (at_ == row_slice_.end) return false;
  const bool first = at_ == row_slice_.first;
  at_ = smaller(row_slice_.end, at_ + part_.band);
  for (size_t s = 0; s < count_; ++s) need_[s] = 0;
  need_[op(count_ - 1).out_slot] = at_;
  for (size_t i = count_; i-- > 0;) {
    const NetworkOp& o = op(i);
    until_[i] = larger(done_[i], need_[o.out_slot]);
    if (at_ == row_slice_.end && in_full(i)) until_[i] = n_.tensors[o.output].h;
    if (until_[i] == done_[i]) continue;
    for (size_t k = 0; k < o.input_count; ++k) {
      if (o.in_slots[k] == kNoSlot) continue;
      size_t& need = need_[o.in_slots[k]];
      const LineRange read = lines_read(n_, o, k, lines(i));
      if (read.count()) need = larger(need, read.end);
    }
  }
  if (first) place_rings();
  return true;
}

// Sets the place of line 0 so that the first write ends at the ring's end. A ring's size is a
// multiple of the lines of later writes, so none of them wraps.
void BandWalk::place_rings() {
  for (size_t i = 0; i < count_; ++i) {
    const NetworkTensor& ring = alias_root(op(i).output);
    const size_t lines = ring.ring_lines;
    if (!ring.is_ring || origin_[op(i).out_slot] != SIZE_MAX) continue;
    origin_[op(i).out_slot] = lines && lines < ring.h ? (lines - until_[i] % lines) % lines : 0;
  }
}

size_t BandWalk::oldest(size_t slot, const size_t* done) const {
  size_t oldest = SIZE_MAX;
  for (size_t i = first_[slot]; i <= last_[slot]; ++i) {
    const NetworkOp& o = op(i);
    if (done[i] == end_[i]) continue;
    if (o.out_slot == slot) oldest = smaller(oldest, done[i]);
    for (size_t k = 0; k < o.input_count; ++k)
      if (o.in_slots[k] == slot)
        oldest = smaller(oldest, lines_read(n_, o, k, {done[i], done[i] + 1}).first);
  }
  return oldest;
}

}  // namespace octet
