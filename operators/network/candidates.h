// SPDX-License-Identifier: Apache-2.0
// The candidates for a network's parts: each range of ops that can be a part, with each band
// height, on all images at once or image by image, and its predicted cost.
#pragma once

#include "operators/network/chains.h"
#include "operators/network/costs.h"

namespace octet {

struct PartCandidate {
  NetworkPart part;
  bool tight;           // argument of shape_part
  size_t live;          // bytes of all tensors while it runs, with its rings
  double microseconds;  // predicted
  double traffic;       // bytes that the cache misses
};

// For the goal TIME the predicted time of a part of several ops counts so much more: small
// predicted gains may be losses.
constexpr double kLongerPart = 1.04;

// Tasks of a longer chain compute more lines again: from a chain on that takes so much longer than
// its ops by themselves, none is looked at.
constexpr double kHopeless = 1.5;

// The most ops of a chain, and the band heights that are tried, besides all lines at once.
constexpr size_t kLongestChain = 24;
constexpr size_t kBands[] = {1, 2, 4, 8, 16, 32};

// Candidates have numbers, slots: by the number of their ops, the first one, the band, and whether
// they run image by image.
constexpr size_t kBandSlots = 1 + sizeof kBands / sizeof kBands[0];
constexpr size_t slots_of(size_t ops) { return 2 * ops * kLongestChain * kBandSlots; }

class Candidates {
 public:
  enum class State : uint8_t { kUnknown, kImpossible, kLoose, kTight };
  struct Figures {
    size_t live;
    double microseconds, traffic;
  };
  // The caller's memory, for this object's life.
  struct Memory {
    OpCost* ops;       // two for each op
    RingCost* rings;   // one for each tensor
    State* states;     // slots_of(number of ops)
    Figures* figures;  // slots_of(number of ops)
    LineRange* lines;  // one for each tensor
    TaskWork* work;    // kLongestChain
    size_t* values;    // shaping_values(number of ops)
  };
  Candidates(octet_network* network, const PlanMachine& machine, octet_network_goal goal,
             const Memory& memory);

  // Finds the parts of one op. Fails if one cannot be shaped. Call it before the functions below.
  octet_status find_singles(octet_error* error);
  PartCandidate single(size_t op, bool by_image) const;
  bool by_image() const { return by_image_; }  // parts may run image by image
  MergeCost merge(size_t op) const { return costs_.merge(op); }

  // Calls take(slot, candidate) for each candidate that begins with op `first`: by their ends, then
  // bands, on all images before image by image. It takes microseconds to shape one, so
  // useful(bound) is asked before: false if no candidate of the bound's ops whose figures are these
  // or larger is of use. Those are left out.
  template <typename Useful, typename Take>
  void visit(size_t first, const Useful& useful, const Take& take);

  // First op, end, band, by_image and tight of a candidate that visit found.
  PartCandidate candidate(size_t slot) const;
  // Shapes a chosen one. It may turn out to be none, as visit has not shaped the fastest ones: then
  // sets *possible to false, and visit finds it no more.
  octet_status shape_chosen(size_t slot, NetworkPart* part, bool* possible, octet_error* error);

 private:
  static constexpr size_t kNoBand = SIZE_MAX;
  // Ops [first, end). Of a part of them, on all images and image by image: bytes of tensors that
  // are no rings, and the traffic that rings save; and the least bytes of its rings.
  struct Range {
    size_t first, end;
    size_t others[2];
    double saved[2];
    size_t rings;
  };

  Range start(size_t first);
  bool extend(Range* range);
  void add_op(Range* range);
  PartCandidate bound(const Range& range, bool by_image) const;
  // Whether ops [first, end) are a chain that is bound by the time of its tasks before a band is
  // looked at, and shaped after the fastest one is chosen.
  bool in_tasks(size_t first, size_t end) const {
    return goal_ == OCTET_NETWORK_TIME && n_->concurrency > 1 && end > first + 1;
  }
  PartCandidate bound_of_tasks(PartCandidate bound) const;
  template <typename Useful, typename Take>
  void visit_fastest(const Range& range, PartCandidate bound, const Useful& useful,
                     const Take& take);
  bool add_first_band(const Range& range, PartCandidate* bound) const;
  // kNoBand: no candidate has it.
  size_t band_of(size_t first, size_t end, size_t band_slot) const;
  size_t slot_of(const Range& range, size_t band_slot, bool by_image) const {
    const size_t row = (range.end - range.first - 1) * n_->op_count + range.first;
    return 2 * (row * kBandSlots + band_slot) + by_image;
  }
  bool shape(PartCandidate* candidate);
  void keep(const Range& range, size_t slot, PartCandidate candidate);
  bool read(size_t slot, PartCandidate* candidate) const;

  octet_network* const n_;
  const PlanMachine machine_;
  const octet_network_goal goal_;
  const Memory memory_;
  const Costs costs_;
  const bool by_image_;
};

// Takes the fastest band only.
template <typename Useful, typename Take>
void Candidates::visit_fastest(const Range& range, PartCandidate c, const Useful& useful,
                               const Take& take) {
  size_t bands[kBandSlots];
  double times[kBandSlots];
  for (size_t i = 0; i < kBandSlots; ++i) {
    bands[i] = c.part.band = band_of(range.first, range.end, i);
    if (c.part.band != kNoBand) times[i] = costs_.microseconds_of_part(c.part);
  }
  for (;;) {
    size_t best = kBandSlots;
    for (size_t i = 0; i < kBandSlots; ++i)
      if (bands[i] != kNoBand && (best == kBandSlots || times[i] < times[best])) best = i;
    if (best == kBandSlots) return;
    c.part.band = bands[best], c.microseconds = times[best];
    if (!useful(c)) return;
    bands[best] = kNoBand;
    const size_t slot = slot_of(range, best, false);
    PartCandidate banded = c;
    if (memory_.states[slot] == State::kImpossible || !add_first_band(range, &banded)) continue;
    memory_.states[slot] = State::kLoose;
    return take(slot, banded);
  }
}

template <typename Useful, typename Take>
void Candidates::visit(size_t first, const Useful& useful, const Take& take) {
  double singles = 0;
  for (Range range = start(first); extend(&range);) {
    singles += single(range.end - 1, false).microseconds;
    const PartCandidate bounds[] = {bound(range, false), bound(range, true)};
    bool use[] = {useful(bounds[0]), by_image_ && useful(bounds[1])};
    if (in_tasks(first, range.end)) {
      const PartCandidate bound = bound_of_tasks(bounds[0]);
      if (bound.microseconds > kHopeless * singles) return;
      if (use[0] && useful(bound)) visit_fastest(range, bound, useful, take);
      continue;
    }
    const size_t slots = range.end == first + 1 ? 1 : kBandSlots;
    for (size_t i = 0; i < 2 * slots && (use[0] || use[1]); ++i) {
      if (!use[i % 2]) continue;
      PartCandidate c = bounds[i % 2];
      c.part.band = band_of(first, range.end, i / 2);
      if (c.part.band == kNoBand) continue;
      const size_t slot = slot_of(range, i / 2, i % 2);
      if (memory_.states[slot] == State::kUnknown) {
        // Higher bands have larger rings
        use[i % 2] = add_first_band(range, &c) && useful(c);
        if (!use[i % 2]) continue;
        costs_.find_work(c.part, RowSlices(*n_, c.part));
        c.microseconds = costs_.microseconds_of_part(c.part);
        if (!useful(c)) continue;
        memory_.states[slot] = State::kImpossible;
        if (shape(&c)) keep(range, slot, c);
      }
      if (read(slot, &c)) take(slot, c);
    }
  }
}

// The batch of all ops; 0 if they differ.
size_t batch_of(const octet_network& network);

}  // namespace octet
