// SPDX-License-Identifier: Apache-2.0
// Checks runs of one network in several places in memory: it keeps the addresses of its last run.
#include <gtest/gtest.h>

#include <thread>

#include "support/gemm_case.h"
#include "support/guarded.h"
#include "support/network_case.h"

namespace octet_test {
namespace {

// Kept tensors and a workspace for a network of `c`.
class Place {
 public:
  Place(const NetworkCase& c, const std::vector<Bytes>& inputs, size_t workspace_bytes)
      : workspace_(workspace_bytes, Side::kBack, OCTET_ALIGNMENT), pointers_(c.tensors.size()) {
    for (size_t i = 0; i < c.tensors.size(); ++i) {
      memory_.emplace_back(c.bytes_of(i), Side::kBack);
      if (!c.tensors[i].keep) continue;
      pointers_[i] = memory_[i].data();
      if (!inputs[i].empty()) std::copy(inputs[i].begin(), inputs[i].end(), memory_[i].data());
    }
    args.tensors = pointers_.data();
    args.workspace = workspace_.data(), args.workspace_bytes = workspace_bytes;
  }
  Place(const Place&) = delete;

  // Runs, and compares the outputs, which hold other bytes before.
  void expect(const octet_network* network, const std::vector<Bytes>& inputs,
              const std::vector<Bytes>& expected) {
    for (size_t i = 0; i < pointers_.size(); ++i)
      if (pointers_[i] && inputs[i].empty()) std::memset(pointers_[i], 0x5a, memory_[i].bytes());
    octet_error error = {};
    ASSERT_EQ(octet_network_run(network, &args, &error), OCTET_OK) << error.message;
    for (size_t i = 0; i < pointers_.size(); ++i) {
      if (!pointers_[i]) continue;
      EXPECT_EQ(Bytes(memory_[i].data(), memory_[i].data() + memory_[i].bytes()), expected[i]);
    }
  }

  octet_network_args args = OCTET_NETWORK_ARGS_INIT;

 private:
  Guarded workspace_;
  std::deque<Guarded> memory_;
  std::vector<void*> pointers_;
};

struct Case : NetworkCase {
  explicit Case(uint32_t seed) : NetworkCase(seed) {
    draw_network(this, 6);
    given = inputs(), expected = compute(given);
    octet_network_desc d = desc();
    d.goal = OCTET_NETWORK_LAYERS;
    octet_error error = {};
    EXPECT_EQ(octet_network_create(&d, &network, &error), OCTET_OK) << error.message;
    EXPECT_EQ(octet_network_workspace(network, &bytes, nullptr), OCTET_OK);
  }
  ~Case() { octet_network_destroy(network); }
  std::vector<Bytes> given, expected;
  octet_network* network = nullptr;
  size_t bytes = 0;
};

TEST(NetworkMemory, OneNetworkRunsInTwoPlaces) {
  for (uint32_t seed = 40; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Case c(seed);
    Place one(c, c.given, c.bytes), other(c, c.given, c.bytes);
    for (Place* const place : {&one, &one, &other, &one})
      place->expect(c.network, c.given, c.expected);
    if (HasFailure()) return;
    // Arguments are wrong whatever the run before was
    one.args.workspace_bytes = 0;
    EXPECT_EQ(octet_network_run(c.network, &one.args, nullptr),
              c.bytes ? OCTET_WORKSPACE_TOO_SMALL : OCTET_OK);
    void* const* const tensors = one.args.tensors;
    one.args.tensors = nullptr;
    EXPECT_EQ(octet_network_run(c.network, &one.args, nullptr), OCTET_NULL_POINTER);
    one.args.tensors = tensors, one.args.workspace_bytes = c.bytes;
    one.args.parallel_for = threaded_for, one.args.concurrency = 100;
    EXPECT_EQ(octet_network_run(c.network, &one.args, nullptr), OCTET_SIZE_ABOVE_MAXIMUM);
  }
}

TEST(NetworkMemory, ThreadsRunOneNetwork) {
  Case c(41);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      Place place(c, c.given, c.bytes);
      for (int i = 0; i < 50; ++i) place.expect(c.network, c.given, c.expected);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace octet_test
