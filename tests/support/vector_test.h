// SPDX-License-Identifier: Apache-2.0
// Runs the cases of a vector file through the public API on one tier, and compares all bytes:
// products with packed and with run-time weights, convolutions by every algorithm that can compute
// them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "octet/octet.h"
#include "support/tiers.h"
#include "support/vectors.h"

namespace octet_test {

octet_conv2d_shape shape_of(const Case& c);  // of a convolution: a case with the tensor "conv"

// A tier that this machine cannot run, or another run tests, is skipped with a message.
class VectorTest : public testing::TestWithParam<octet_isa> {
 protected:
  void SetUp() override;
  void check(const std::string& path);
};

#define OCTET_FOR_EACH_TIER(Suite)                                                         \
  INSTANTIATE_TEST_SUITE_P(, Suite, testing::ValuesIn(all_tiers()), [](const auto& tier) { \
    return std::string(octet_isa_name(tier.param));                                        \
  })

}  // namespace octet_test
