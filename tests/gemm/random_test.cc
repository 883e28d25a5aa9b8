// Checks that any combination of features that create accepts gives the reference's bytes. The
// suites of single features say which one broke; this one finds what they do not combine. A failure
// prints the whole case.
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
