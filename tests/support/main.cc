// SPDX-License-Identifier: Apache-2.0
// Starts the tests of a program without the caller's OCTET_* variables: the tests set them
// themselves.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "support/demoted.h"
#include "support/system.h"
#include "support/tiers.h"

int main(int argc, char** argv) {
  for (const char* name :
       {"OCTET_MAX_ISA", "OCTET_KERNEL", "OCTET_CONV", "OCTET_TUNING", "OCTET_VERBOSE"})
    unsetenv(name);
  testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  // The check comes after the tests, because some are about the first use of the library.
  if (octet_test::is_anything_demoted()) return 1;
  if (octet_test::has_tiers_to_test()) return status;
  std::fprintf(stderr, "This machine does not run all tiers of OCTET_TEST_TIERS.\n");
  return 1;
}
