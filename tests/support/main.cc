// The tests set OCTET_* themselves: what the caller's shell holds must not change what they test.
#include <gtest/gtest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  for (const char* name : {"OCTET_MAX_ISA", "OCTET_KERNEL", "OCTET_VERBOSE"}) unsetenv(name);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
