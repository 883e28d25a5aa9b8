// What the planner reckons of a part is the part's: not of what it looked at before.
#include "network/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dispatch/conv_machine.h"
#include "support/kernels.h"
#include "support/network_case.h"

namespace octet_test {
namespace {

// `count` convolutions, one after the other.
void build(NetworkCase* c, size_t count) {
  size_t at = c->tensor(1, 24, 24, 16);
  for (size_t i = 0; i < count; ++i) at = c->conv(at, kernel3(16));
  c->keep_ends();
}

// All candidates for a goal, behind a cache that no tensor fits.
class Found {
 public:
  Found(const NetworkCase& c, octet_network_goal goal) {
    octet_network_desc desc = c.desc();
    desc.goal = OCTET_NETWORK_LAYERS;
    octet_error error = {};
    EXPECT_EQ(octet_network_create(&desc, &network_, &error), OCTET_OK) << error.message;
    list_.resize(octet::most_candidates(c.ops.size()));
    std::vector<size_t> memory(octet::BandWalk::words(c.ops.size()));
    std::vector<octet::MergeCost> merge(c.ops.size() + 1);
    octet::Candidates found = {list_.data(), 0, merge.data()};
    const octet::PlanMachine machine = {with_microarchitecture(octet::conv_machine().cpu),
                                        16 << 10};
    EXPECT_EQ(octet::find_candidates(network_, machine, goal, memory.data(), &found, &error),
              OCTET_OK)
        << error.message;
    list_.resize(found.count);
  }
  ~Found() { octet_network_destroy(network_); }
  Found(const Found&) = delete;
  Found& operator=(const Found&) = delete;

  const std::vector<octet::PartCandidate>& list() const { return list_; }
  const octet::PartCandidate* find(size_t first, size_t end, size_t band) const {
    for (const octet::PartCandidate& c : list_)
      if (c.part.first == first && c.part.end == end && c.part.band == band) return &c;
    return nullptr;
  }

 private:
  octet_network* network_ = nullptr;
  std::vector<octet::PartCandidate> list_;
};

void expect_equal(const octet::PartCandidate& a, const octet::PartCandidate& b) {
  SCOPED_TRACE(testing::Message() << "ops " << a.part.first << " to " << a.part.end
                                  << " in bands of " << a.part.band);
  EXPECT_EQ(a.live, b.live);
  EXPECT_EQ(a.microseconds, b.microseconds);
  EXPECT_EQ(a.traffic, b.traffic);
}

// Of an op by itself: whether chains are looked at, too, or not.
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

// Equal ops in a row: chains that begin with the second one are as those that begin with the first,
// but for what was looked at before.
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

}  // namespace
}  // namespace octet_test
