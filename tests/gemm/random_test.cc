// SPDX-License-Identifier: Apache-2.0
// Checks that any combination of features that create accepts gives the reference's bytes. The
// other suites test single features; this one finds errors of combinations. A failure prints the
// whole case.
#include "support/random_case.h"

namespace octet_test {
namespace {

TEST(Random, BestKernels) {
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    check(random_gemm(seed, nullptr));
    if (HasFatalFailure()) return;
  }
}

class RandomKernel : public EachKernel {};
OCTET_FOR_EACH_KERNEL(RandomKernel);

TEST_P(RandomKernel, AnyCombination) {
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    check(random_gemm(seed, &kernel()));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace octet_test
