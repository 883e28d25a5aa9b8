// SPDX-License-Identifier: Apache-2.0
// Checks that every tier has its row in the table of peak loops: without one a bench would silently
// quote no percentage of the peak.
#include <gtest/gtest.h>

#include "bench/machine/api.h"
#include "bench/machine/peak.h"

namespace {

TEST(Peak, EveryTierHasARow) {
  for (const octet_isa isa : tool::tiers_of(UINT32_MAX))
    EXPECT_TRUE(tool::has_peak_row(octet_isa_name(isa)))
        << octet_isa_name(isa) << ": a row of bench/machine/peak.cc";
  EXPECT_FALSE(tool::has_peak_row("unknown"));
}

// This CPU's kernels find the loop of their tier, on one iteration of which it does not die.
TEST(Peak, LoopsOfUsableKernelsRun) {
  for (const octet_kernel_info& kernel : tool::kernels()) {
    if (!kernel.usable) continue;
    const tool::PeakLoop* loop = tool::peak_loop(kernel.name);
    if (!loop) continue;
    EXPECT_GT(loop->ops_per_iteration, 0) << kernel.name;
    EXPECT_EQ(tool::peak_loop((std::string(kernel.name) + "_more").c_str()), loop);
    EXPECT_EQ(tool::peak_loop(("x" + std::string(kernel.name)).c_str()), nullptr);
    loop->iterate(1);
  }
}

}  // namespace
