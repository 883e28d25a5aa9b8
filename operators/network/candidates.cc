// SPDX-License-Identifier: Apache-2.0
// Finds the figures of the candidates for a network's parts, and bounds of them that cost less to
// find.
#include "operators/network/candidates.h"

namespace octet {
namespace {

constexpr double kRounded = 1 - 1e-9;  // sums of floats in another order differ in their last bits

}  // namespace

size_t batch_of(const octet_network& n) {
  const size_t batch = n.tensors[n.ops[0].output].batch;
  for (size_t i = 0; i < n.op_count; ++i)
    if (n.ops[i].all_images || n.tensors[n.ops[i].output].batch != batch) return 0;
  return batch;
}

Candidates::Candidates(octet_network* network, const PlanMachine& machine, octet_network_goal goal,
                       const Memory& memory)
    : n_(network),
      machine_(machine),
      goal_(goal),
      memory_(memory),
      costs_(*network, machine_, memory.ops, memory.rings, memory.lines, memory.work),
      by_image_(batch_of(*network) > 1 && goal != OCTET_NETWORK_LAYERS &&
                (goal != OCTET_NETWORK_TIME || network->concurrency == 1)) {
  for (size_t slot = 0; slot < slots_of(n_->op_count); ++slot)
    memory_.states[slot] = State::kUnknown;
}

octet_status Candidates::find_singles(octet_error* error) {
  for (size_t i = 0; i < n_->op_count; ++i) {
    Range range = start(i);
    add_op(&range);
    for (size_t k = 0; k <= by_image_; ++k) {
      PartCandidate c = bound(range, k);
      c.part.band = band_of(i, i + 1, 0);
      c.tight = goal_ == OCTET_NETWORK_MEMORY;
      OCTET_TRY(shape_part(n_, &c.part, c.tight, memory_.values, error));
      costs_.find_work(c.part, RowSlices(*n_, c.part));
      c.microseconds = costs_.microseconds_of_part(c.part);
      keep(range, slot_of(range, 0, k), c);
    }
  }
  return OCTET_OK;
}

PartCandidate Candidates::single(size_t op, bool by_image) const {
  PartCandidate c = {};
  c.part.first = op, c.part.end = op + 1, c.part.by_image = by_image;
  read(slot_of({op, op + 1, {}, {}, 0}, 0, by_image), &c);
  return c;
}

Candidates::Range Candidates::start(size_t first) {
  Range range = {first, first, {}, {}, 0};
  for (size_t i = 0; i < n_->tensor_count; ++i) {
    NetworkTensor& t = n_->tensors[i];
    t.is_ring = false;
    if (t.alias_root != i || t.kept || t.first_use >= first || t.last_use < first) continue;
    range.others[0] += round_up(t.bytes, kAlignment);
    range.others[1] += round_up(t.image, kAlignment);
  }
  return range;
}

// False if there are no longer candidates.
bool Candidates::extend(Range* range) {
  if (range->end > range->first) {
    const size_t longest = goal_ == OCTET_NETWORK_LAYERS ? 1 : kLongestChain;
    if (range->end == smaller(n_->op_count, range->first + longest) ||
        refuse_link(*n_, range->first, range->first) || refuse_link(*n_, range->first, range->end))
      return false;
  }
  add_op(range);
  NetworkPart part = {};
  part.first = range->first, part.end = range->end;
  return range->end == range->first + 1 || goal_ == OCTET_NETWORK_MEMORY ||
         !costs_.too_heavy(part, 0);
}

// A tensor counts from its first use on, and is a ring from its last one on.
void Candidates::add_op(Range* range) {
  const size_t index = range->end++;
  const NetworkOp& op = n_->ops[index];
  const auto add = [&](size_t tensor, size_t k) {
    const size_t root = n_->tensors[tensor].alias_root;
    for (size_t earlier = 0; earlier < k; ++earlier)
      if (n_->tensors[op.inputs[earlier]].alias_root == root) return;
    NetworkTensor& t = n_->tensors[root];
    if (t.kept) return;
    const size_t bytes[] = {round_up(t.bytes, kAlignment), round_up(t.image, kAlignment)};
    const RingCost& ring = costs_.ring(root);
    const bool ends = t.last_use == index && t.first_use >= range->first && ring.read;
    for (size_t i = 0; i < 2; ++i) {
      if (t.first_use == index) range->others[i] += bytes[i];
      if (!ends) continue;
      range->others[i] -= bytes[i];
      range->saved[i] += ring.traffic[i];
    }
    if (!ends) return;
    range->rings += ring.bytes;
    t.is_ring = true;
  };
  for (size_t k = 0; k < op.input_count; ++k) add(op.inputs[k], k);
  add(op.output, op.input_count);
}

PartCandidate Candidates::bound(const Range& range, bool by_image) const {
  PartCandidate c = {};
  c.part.first = range.first, c.part.end = range.end, c.part.by_image = by_image;
  c.live = range.others[by_image] + range.rings;
  c.microseconds = costs_.least(c.part) * kRounded;
  c.traffic = (costs_.traffic(c.part) - range.saved[by_image] + (double)range.rings) * kRounded;
  return c;
}

// A bound in any bands, from the lines that tasks compute.
PartCandidate Candidates::bound_of_tasks(PartCandidate c) const {
  const RowSlices row_slices = cut_chain(*n_, &c.part);
  costs_.find_work(c.part, row_slices);
  c.microseconds = costs_.least_of_tasks(c.part) * kRounded;
  return c;
}

// Adds to a bound what the rings of a chain take for its first band, and sets tasks and ring_bytes.
// When an op has computed its lines of that band, none of them has been read for the last time.
// False if they leave the cache.
bool Candidates::add_first_band(const Range& range, PartCandidate* c) const {
  NetworkPart* const part = &c->part;
  const RowSlices row_slices = part->tasks ? RowSlices(*n_, *part) : cut_chain(*n_, part);
  const LineRange band = {0, smaller(part->band, row_slices.piece(0, 0).count())};
  part->ring_bytes = 0;
  for_each_needed(*n_, *part, band, memory_.lines, [&](size_t i, LineRange out) {
    const size_t root = n_->tensors[n_->ops[i].output].alias_root;
    const NetworkTensor& t = n_->tensors[root];
    if (!t.is_ring || t.first_use != i) return;
    const size_t count = out.end > out.first ? out.count() : 0;
    part->ring_bytes += larger(round_up(count * t.line, kAlignment), costs_.ring(root).bytes);
  });
  const size_t more = part->tasks * part->ring_bytes - range.rings;
  c->live += more;
  c->traffic += (double)more * kRounded;
  return goal_ == OCTET_NETWORK_MEMORY || !costs_.too_heavy(*part, part->ring_bytes);
}

size_t Candidates::band_of(size_t first, size_t end, size_t band_slot) const {
  const size_t lines = n_->tensors[n_->ops[end - 1].output].h;
  if (end == first + 1) return band_slot ? kNoBand : by_lines_only(*n_, first) ? lines : 0;
  if (band_slot == kBandSlots - 1)
    return lines < 4 || goal_ == OCTET_NETWORK_MEMORY ? lines : kNoBand;
  // Bands of one or two lines cost time but save memory, and fit where others do not.
  const size_t band = kBands[band_slot], least = goal_ == OCTET_NETWORK_TIME ? 4 : 1;
  return band < lines && band >= least ? band : kNoBand;
}

// False if it cannot be shaped or leaves the cache.
bool Candidates::shape(PartCandidate* c) {
  const auto shaped = [&](bool tight) {
    c->tight = tight;
    return shape_part(n_, &c->part, tight, memory_.values, nullptr) == OCTET_OK;
  };
  if (goal_ == OCTET_NETWORK_MEMORY) return shaped(true);
  if (!shaped(false)) return false;
  if (costs_.stays_in_cache(c->part)) return true;
  return goal_ == OCTET_NETWORK_TRAFFIC && shaped(true) && costs_.stays_in_cache(c->part);
}

// Keeps the figures of a candidate that is shaped, with its time.
void Candidates::keep(const Range& range, size_t slot, PartCandidate c) {
  memory_.states[slot] = c.tight ? State::kTight : State::kLoose;
  memory_.figures[slot] = {range.others[c.part.by_image] + c.part.tasks * c.part.ring_bytes,
                           c.microseconds, costs_.traffic_of_part(c.part)};
}

octet_status Candidates::shape_chosen(size_t slot, NetworkPart* part, bool* possible,
                                      octet_error* error) {
  State* const state = &memory_.states[slot];
  const bool checks = in_tasks(part->first, part->end);
  const octet_status status =
      shape_part(n_, part, *state == State::kTight, memory_.values, checks ? nullptr : error);
  if (!checks || (status == OCTET_OK && costs_.stays_in_cache(*part))) return status;
  *state = State::kImpossible;
  *possible = false;
  return OCTET_OK;
}

bool Candidates::read(size_t slot, PartCandidate* c) const {
  const State state = memory_.states[slot];
  if (state == State::kUnknown || state == State::kImpossible) return false;
  const Figures& figures = memory_.figures[slot];
  c->tight = state == State::kTight;
  c->live = figures.live, c->microseconds = figures.microseconds, c->traffic = figures.traffic;
  return true;
}

PartCandidate Candidates::candidate(size_t slot) const {
  PartCandidate c = {};
  const size_t row = slot / 2 / kBandSlots;
  c.part.first = row % n_->op_count;
  c.part.end = c.part.first + row / n_->op_count + 1;
  c.part.band = band_of(c.part.first, c.part.end, slot / 2 % kBandSlots);
  c.part.by_image = slot % 2;
  c.tight = memory_.states[slot] == State::kTight;
  return c;
}

}  // namespace octet
