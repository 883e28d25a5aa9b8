// SPDX-License-Identifier: Apache-2.0
// Finds the period of a chain: the number of bands after which all ops have moved on by whole
// lines. Skips bands that repeat.
#include "operators/network/repeats.h"

namespace octet {
namespace {

constexpr size_t kMostBands = 64;       // longest period
constexpr size_t kMostLines = 1 << 12;  // largest term of a rate: products fit 32 bits

size_t greatest_divisor(size_t a, size_t b) {
  while (b) {
    const size_t rest = a % b;
    a = b, b = rest;
  }
  return a;
}

}  // namespace

Repeats::Repeats(const octet_network& n, const NetworkPart& part, size_t* memory)
    : n_(n),
      part_(part),
      count_(part.end - part.first),
      lines_(memory),
      of_(memory + count_),
      done_(memory + 2 * count_) {
  for (size_t i = 0; i < count_; ++i) done_[i] = 0;
  if (!find_rates()) return;
  size_t period = 1;
  for (size_t s = 0; s < count_; ++s) {
    if (!lines_[s]) continue;
    const size_t of = of_[s] / greatest_divisor(part.band * lines_[s], of_[s]);
    period *= of / greatest_divisor(period, of);
    if (period > kMostBands) return;
  }
  for (size_t s = 0; s < count_; ++s)
    if (lines_[s]) lines_[s] = period * part.band * lines_[s] / of_[s];
  period_ = period;
}

// A slot that is read at two rates has no period; no real network has one.
bool Repeats::set_rate(size_t slot, Rate rate) {
  const size_t divisor = greatest_divisor(rate.lines, rate.of);
  rate.lines /= divisor, rate.of /= divisor;
  if (rate.lines > kMostLines || rate.of > kMostLines) return false;
  if (lines_[slot]) return lines_[slot] == rate.lines && of_[slot] == rate.of;
  lines_[slot] = rate.lines, of_[slot] = rate.of;
  return true;
}

bool Repeats::find_rates() {
  for (size_t s = 0; s < count_; ++s) lines_[s] = 0, of_[s] = 1;
  lines_[op(count_ - 1).out_slot] = 1;
  if (part_.band > kMostLines) return false;
  for (size_t i = count_; i-- > 0;) {
    const NetworkOp& o = op(i);
    const Rate own = {lines_[o.out_slot], of_[o.out_slot]};
    if (!own.lines) continue;  // no later op needs it
    for (size_t k = 0; k < o.input_count; ++k) {
      if (o.in_slots[k] == kNoSlot) continue;
      Rate rate = own;
      if (o.conv && k == 0) {
        const ConvShape& s = o.conv->plan.shape;
        (s.transposed ? rate.of : rate.lines) *= s.stride_h;
      } else if (!o.conv && !o.gemm) {
        if (o.function.kernel_h == 0) continue;  // reads all lines in the first band
        rate.lines *= o.function.stride_h, rate.of *= o.function.repeat_h;
      }
      if (rate.lines > kMostLines || rate.of > kMostLines || !rate.lines || !rate.of ||
          !set_rate(o.in_slots[k], rate))
        return false;
    }
  }
  return true;
}

// True if each op, and the oldest needed line of each slot, is where it was one period ago.
// Compares with the ends, too: an op that ended meanwhile needs no more of its inputs, so the ops
// that make them may now stay behind.
bool Repeats::as_before(const BandWalk& walk) {
  const auto moved = [&](size_t i) { return walk.left(i) ? lines_[op(i).out_slot] : 0; };
  const auto counts = [&](size_t i) { return !walk.left(i) || lines_[op(i).out_slot]; };
  bool same = bands_ > period_;
  for (size_t i = 0; i < count_ && same; ++i)
    same = !counts(i) || walk.done(i) == done_[i] + moved(i);
  for (size_t i = 0; i < count_ && same; ++i) {
    const size_t slot = op(i).out_slot;
    same = !moved(i) || walk.oldest(slot) == walk.oldest(slot, done_) + moved(i);
  }
  for (size_t i = 0; i < count_; ++i) done_[i] = walk.done(i);
  return same;
}

void Repeats::after_band(BandWalk* walk) {
  if (!period_ || ++bands_ % period_ || !as_before(*walk)) return;
  const size_t lines = period_ * part_.band;
  size_t times = walk->left() / lines;
  for (size_t i = 0; i < count_; ++i)
    if (walk->left(i) && lines_[op(i).out_slot])
      times = smaller(times, walk->left(i) / lines_[op(i).out_slot]);
  if (times <= 2) return;  // the end of the image cuts the last ones short
  times -= 2;
  for (size_t i = 0; i < count_; ++i)
    if (walk->left(i) && lines_[op(i).out_slot]) walk->skip(i, times * lines_[op(i).out_slot]);
  walk->skip(times * lines);
  period_ = 0;  // skips once
}

}  // namespace octet
