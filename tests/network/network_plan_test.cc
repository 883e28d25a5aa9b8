// SPDX-License-Identifier: Apache-2.0
// Checks that the planner's figures of a part do not depend on the parts that it looked at before.
#include "operators/network/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dispatch/select/override.h"
#include "operators/conv/machine.h"
#include "support/network_case.h"

namespace octet_test {
namespace {

// `count` convolutions, one after the other.
void build(NetworkCase* c, size_t count) {
  size_t at = c->tensor(1, 24, 24, 16);
  for (size_t i = 0; i < count; ++i) at = c->conv(at, kernel3(16));
  c->keep_ends();
}

// With a small L2, so that chains gain.
const octet_machine kMachine = [] {
  octet_machine machine = OCTET_MACHINE_INIT;
  machine.l2_bytes = 64 << 10;
  return machine;
}();

// All candidates for a goal; by default behind a cache that no tensor of build() fits.
class Found {
 public:
  Found(const NetworkCase& c, octet_network_goal goal, size_t cache_bytes = 16 << 10,
        size_t concurrency = 1) {
    octet_network_desc desc = c.desc();
    desc.goal = OCTET_NETWORK_LAYERS, desc.concurrency = concurrency;
    octet_error error = {};
    EXPECT_EQ(octet_network_create(&desc, &network_, &error), OCTET_OK) << error.message;
    const size_t ops = c.ops.size(), slots = octet::slots_of(ops);
    std::vector<octet::OpCost> costs(2 * ops);
    std::vector<octet::RingCost> rings(c.tensors.size());
    std::vector<octet::LineRange> lines(c.tensors.size());
    std::vector<octet::TaskWork> work(octet::kLongestChain);
    std::vector<octet::Candidates::State> states(slots);
    std::vector<octet::Candidates::Figures> figures(slots);
    std::vector<size_t> values(octet::shaping_values(ops));
    octet::PlanMachine machine = {octet::conv_machine().cpu, cache_bytes};
    EXPECT_EQ(octet::read_machine(&kMachine, "desc", &machine.cpu, &error), OCTET_OK);
    octet::Candidates candidates(network_, machine, goal,
                                 {costs.data(), rings.data(), states.data(), figures.data(),
                                  lines.data(), work.data(), values.data()});
    EXPECT_EQ(candidates.find_singles(&error), OCTET_OK) << error.message;
    // The fastest candidates are shaped once they are chosen: here all of them are
    for (bool possible = false; !possible;) {
      possible = true;
      for (const size_t slot : visit_all(&candidates, ops)) {
        octet::NetworkPart part = candidates.candidate(slot).part;
        EXPECT_EQ(candidates.shape_chosen(slot, &part, &possible, &error), OCTET_OK);
      }
    }
  }
  ~Found() { octet_network_destroy(network_); }
  Found(const Found&) = delete;
  Found& operator=(const Found&) = delete;

  const std::vector<octet::PartCandidate>& list() const { return list_; }
  const octet::PartCandidate* find(size_t first, size_t end, size_t band,
                                   bool by_image = false) const {
    for (const octet::PartCandidate& c : list_)
      if (c.part.first == first && c.part.end == end && c.part.band == band &&
          c.part.by_image == by_image)
        return &c;
    return nullptr;
  }
  size_t bounded() const { return bounded_; }  // comparisons with bounds of some rings

 private:
  // Lists the candidates anew, and returns their slots.
  std::vector<size_t> visit_all(octet::Candidates* candidates, size_t ops) {
    std::vector<size_t> slots;
    list_.clear();
    for (size_t first = 0; first < ops; ++first) {
      std::vector<octet::PartCandidate> bounds;
      candidates->visit(
          first,
          [&](const octet::PartCandidate& bound) {
            bounds.push_back(bound);
            return true;
          },
          [&](size_t slot, const octet::PartCandidate& c) {
            list_.push_back(c), slots.push_back(slot);
            const octet::NetworkPart same = candidates->candidate(slot).part;
            EXPECT_EQ(same.first, c.part.first);
            EXPECT_EQ(same.end, c.part.end);
            EXPECT_EQ(same.band, c.part.band);
            EXPECT_EQ(same.by_image, c.part.by_image);
            expect_bounded(bounds, c);
          });
    }
    return slots;
  }
  // No bound of its ops in any bands, or in its bands, exceeds a candidate's figures.
  void expect_bounded(const std::vector<octet::PartCandidate>& bounds,
                      const octet::PartCandidate& c) {
    for (const octet::PartCandidate& b : bounds) {
      if (b.part.end != c.part.end || b.part.by_image != c.part.by_image ||
          (b.part.band && b.part.band != c.part.band))
        continue;
      EXPECT_LE(b.live, c.live) << c.part.first << " to " << c.part.end << ", " << c.part.band;
      EXPECT_LE(b.traffic, c.traffic)
          << c.part.first << " to " << c.part.end << ", " << c.part.band;
      EXPECT_LE(b.microseconds, c.microseconds);
      bounded_ += b.part.ring_bytes > 0;
    }
  }

  octet_network* network_ = nullptr;
  std::vector<octet::PartCandidate> list_;
  size_t bounded_ = 0;
};

void expect_equal(const octet::PartCandidate& a, const octet::PartCandidate& b) {
  SCOPED_TRACE(testing::Message() << "ops " << a.part.first << " to " << a.part.end
                                  << " in bands of " << a.part.band);
  EXPECT_EQ(a.live, b.live);
  EXPECT_EQ(a.microseconds, b.microseconds);
  EXPECT_EQ(a.traffic, b.traffic);
}

// A single op's figures are the same whether the planner looks at chains or not.
TEST(NetworkPlan, ChainsBeforeAnOpDoNotCount) {
  NetworkCase c(1);
  build(&c, 5);
  const Found layers(c, OCTET_NETWORK_LAYERS), chains(c, OCTET_NETWORK_MEMORY);
  ASSERT_EQ(layers.list().size(), 5u);
  ASSERT_GT(chains.list().size(), 10u);
  for (const octet::PartCandidate& op : layers.list()) {
    const octet::PartCandidate* const same = chains.find(op.part.first, op.part.end, 0);
    ASSERT_NE(same, nullptr);
    expect_equal(*same, op);
  }
}

// With equal ops in a row, chains from the second op have the figures of chains from the first.
TEST(NetworkPlan, EqualChainsCostTheSame) {
  NetworkCase c(2);
  build(&c, 6);
  const Found found(c, OCTET_NETWORK_MEMORY);
  size_t compared = 0;
  for (const octet::PartCandidate& a : found.list()) {
    if (a.part.first != 0 || a.part.end > 4) continue;
    const octet::PartCandidate* const b = found.find(1, a.part.end + 1, a.part.band);
    ASSERT_NE(b, nullptr);
    EXPECT_EQ(a.traffic, b->traffic) << a.part.end << " ops in bands of " << a.part.band;
    EXPECT_EQ(a.microseconds, b->microseconds) << a.part.end << " ops, bands of " << a.part.band;
    ++compared;
  }
  EXPECT_GT(compared, 10u);
}

// A search through all candidates, without bounds, finds the planner's plan: no candidate that the
// planner rules out before it shapes parts would have been better.
struct Plan {
  double cost;
  size_t live;
  std::vector<size_t> parts;  // first op and band
};

Plan best_of_all(const Found& found, size_t ops, octet_network_goal goal, size_t most_live) {
  std::vector<Plan> best(ops + 1, {0, SIZE_MAX, {}});
  best[0].live = 0;
  for (const octet::PartCandidate& c : found.list()) {
    const Plan& before = best[c.part.first];
    if (c.live > most_live || before.live == SIZE_MAX) continue;
    const bool single = c.part.end == c.part.first + 1;
    const double cost = goal == OCTET_NETWORK_TRAFFIC ? c.traffic + 20 * c.microseconds
                        : goal == OCTET_NETWORK_TIME && !single
                            ? c.microseconds * octet::kLongerPart
                            : c.microseconds;
    Plan with = {before.cost + cost, std::max(before.live, c.live), before.parts};
    with.parts.push_back(c.part.first), with.parts.push_back(c.part.band);
    Plan& after = best[c.part.end];
    if (after.live == SIZE_MAX || with.cost < after.cost) after = with;
  }
  return best[ops];
}

// The least bytes with which there is a plan.
size_t least_live(const Found& found, size_t ops) {
  std::vector<size_t> least(ops + 1, SIZE_MAX);
  least[0] = 0;
  for (const octet::PartCandidate& c : found.list())
    least[c.part.end] = std::min(least[c.part.end], std::max(least[c.part.first], c.live));
  return least[ops];
}

TEST(NetworkPlan, IsTheBestOfAllCandidates) {
  size_t chains = 0, bounded = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    NetworkCase c(seed);
    size_t at = c.tensor(1, 24 + c.draw.below(60), seed % 2 ? 96 : 12, 16);
    for (size_t i = 0; i < 8; ++i) {
      const size_t kind = c.draw.below(6), before = at;
      at = kind > 1 ? c.conv(at, kernel3(16)) : c.pool(at, 1 + c.draw.below(3), 1, 0);
      if (kind == 5) at = c.add(before, at);
    }
    c.keep_ends();
    for (const octet_network_goal goal :
         {OCTET_NETWORK_TIME, OCTET_NETWORK_TRAFFIC, OCTET_NETWORK_MEMORY})
      for (const size_t concurrency : {1, 3}) {
        SCOPED_TRACE(testing::Message()
                     << "seed " << seed << ", goal " << goal << ", " << concurrency << " tasks");
        octet_network_desc desc = c.desc();
        desc.machine = &kMachine;
        desc.goal = goal, desc.cache_bytes = 96 << 10, desc.concurrency = concurrency;
        const Found found(c, goal, desc.cache_bytes, concurrency);
        bounded += found.bounded();
        const size_t ops = c.ops.size();
        const Plan plan = best_of_all(
            found, ops, goal, goal == OCTET_NETWORK_MEMORY ? least_live(found, ops) : SIZE_MAX);
        octet_network* n = nullptr;
        octet_error error = {};
        ASSERT_EQ(octet_network_create(&desc, &n, &error), OCTET_OK) << error.message;
        std::vector<size_t> parts;
        for (size_t i = 0; i < n->part_count; ++i) {
          parts.push_back(n->parts[i].first), parts.push_back(n->parts[i].band);
          chains += n->parts[i].end > n->parts[i].first + 1;
        }
        octet_network_destroy(n);
        EXPECT_EQ(parts, plan.parts);
        if (HasFailure()) return;
      }
  }
  EXPECT_GT(chains, 100u);
  EXPECT_GT(bounded, 10000u);
}

// Bounds hold in networks of all kinds of ops, sizes and slices, image by image, and for tasks.
TEST(NetworkPlan, NoFiguresAreBelowTheirBounds) {
  size_t bounded = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    NetworkCase c(seed);
    draw_network(&c, 2 + seed % 9);
    if (c.ops.empty()) continue;
    for (const octet_network_goal goal : {OCTET_NETWORK_TRAFFIC, OCTET_NETWORK_MEMORY})
      bounded += Found(c, goal, 16 << 10, 1 + seed % 3).bounded();
    if (HasFailure()) return;
  }
  EXPECT_GT(bounded, 1000u);
}

// Shaping a chain looks at a few bands; the sizes that it finds are enough for all bands.
void expect_all_bands_measured(const NetworkCase& c, const octet_network* n) {
  const octet::NetworkPart& chain = n->parts[0];
  std::vector<size_t> memory(octet::BandWalk::values(c.ops.size())), most(c.ops.size()),
      span(c.tensors.size()), step(c.tensors.size());
  const octet::RowSlices row_slices(*n, chain);
  for (size_t task = 0; task < chain.tasks; ++task) {
    const size_t begin = task * row_slices.step;
    octet::BandWalk walk(*n, chain, row_slices.piece(task, begin), memory.data());
    for (bool first = true; walk.next(); first = false)
      for (size_t i = 0; i < c.ops.size(); ++i) {
        const octet::NetworkOp& op = n->ops[i];
        const octet::LineRange lines = walk.lines(i);
        if (!lines.count()) continue;
        most[i] = std::max(most[i], lines.count());
        const size_t oldest = std::min(walk.oldest(op.out_slot), lines.first);
        span[op.output] = std::max(span[op.output], lines.end - oldest);
        if (!first && lines.end < n->tensors[op.output].h)
          step[op.output] = std::max(step[op.output], lines.count());
        walk.mark_done(i);
      }
  }
  for (size_t i = 0; i < c.ops.size(); ++i) {
    const octet::NetworkOp& op = n->ops[i];
    EXPECT_EQ(op.most, most[i]) << "op " << i;
    EXPECT_EQ(n->tensors[op.output].span, span[op.output]) << "op " << i;
    EXPECT_EQ(n->tensors[op.output].step, step[op.output]) << "op " << i;
  }
}

TEST(NetworkPlan, BandsThatAreLeftOutWouldHaveAddedNothing) {
  size_t tall = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    NetworkCase c(seed);
    const size_t h = 30 + c.draw.below(300);
    size_t at = c.tensor(1, h, 1, 2);
    for (size_t ops = 1 + c.draw.below(5); ops > 0; --ops) {
      octet_conv2d_shape s = kernel3(2);
      s.kernel_h = 1 + c.draw.below(5), s.stride_h = 1 + c.draw.below(3);
      s.pad_top = c.draw.below(7), s.pad_bottom = c.draw.below(4);
      switch (c.draw.below(5)) {
        case 0: at = c.resize(at, 2 + c.draw.below(2)); break;
        case 1: at = c.pool(at, 1, 1 + c.draw.below(3), 0); break;
        case 2: s.transposed = 1, s.pad_top = s.pad_bottom = 0; [[fallthrough]];
        default:
          if (c.tensors[at].h + s.pad_top + s.pad_bottom >= s.kernel_h) at = c.conv(at, s);
      }
    }
    if (c.ops.empty()) continue;
    c.keep_ends();
    octet_network_desc desc = c.desc();
    const octet_network_part part = {0, c.ops.size(), 1 + c.draw.below(9)};
    desc.parts = &part, desc.part_count = 1, desc.concurrency = 1 + c.draw.below(3);
    octet_network* n = nullptr;
    octet_error error = {};
    ASSERT_EQ(octet_network_create(&desc, &n, &error), OCTET_OK) << error.message;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    tall += n->tensors[c.ops.back().output].h > 20 * part.band_lines;
    expect_all_bands_measured(c, n);
    octet_network_destroy(n);
    if (HasFailure()) return;
  }
  EXPECT_GT(tall, 100u);  // else no band was left out
}

// A kept tensor of which only the first lines are read falls behind when its reader ends: from then
// on its bands do not repeat, though all remaining ops had moved by equal steps.
TEST(NetworkPlan, BandsAfterAReaderEndedAreOthers) {
  for (size_t band = 1; band <= 3; ++band)
    for (size_t pad = 12; pad < 24; ++pad)
      for (const size_t below : {10, 40, 90}) {
        NetworkCase c(1);
        const size_t in = c.tensor(1, 60, 1, 2);
        octet_conv2d_shape s = kernel3(2);
        s.stride_h = 2;
        const size_t behind = c.conv(in, s);
        octet_network_function function = {
            [](void*, const octet_network_call*) {}, nullptr, 1, 1, 1, pad};
        octet_network_op op = {};
        op.function = &function;
        op.inputs[0] = in, op.inputs[1] = behind, op.input_count = 2;
        op.output = c.tensor(1, 24, 1, 2);
        c.ops.push_back(op);
        s.stride_h = 1, s.pad_bottom = below;
        c.conv(op.output, s);
        c.keep_ends();
        c.tensors[behind].keep = 1;
        octet_network_desc desc = c.desc();
        const octet_network_part part = {0, c.ops.size(), band};
        desc.parts = &part, desc.part_count = 1;
        octet_network* n = nullptr;
        ASSERT_EQ(octet_network_create(&desc, &n, nullptr), OCTET_OK);
        SCOPED_TRACE(testing::Message() << "bands of " << band << ", pad " << pad << ", " << below);
        expect_all_bands_measured(c, n);
        octet_network_destroy(n);
      }
}

}  // namespace
}  // namespace octet_test
