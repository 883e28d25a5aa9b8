// SPDX-License-Identifier: Apache-2.0
// Checks that the library asks for tile registers only where a tier may use them, and does without
// that tier where the system refuses.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "dispatch/cpu/permission.h"
#include "dispatch/os/os.h"
#include "dispatch/tables/tiers.h"
#include "octet/octet.h"

namespace octet_test {
namespace {

using octet::Features;
using octet::TierId;

constexpr octet::TierMask kTier = octet::mask_of(TierId::kAmxInt8);

int asked = 0;
bool yes() { return ++asked; }
bool no() { return !++asked; }

Features features_of(TierId isa) { return octet::tier_of(isa).needs; }

TEST(Permission, IsAskedForOnceAndDecides) {
  const Features all = features_of(TierId::kAmxInt8);
  asked = 0;
  EXPECT_EQ(octet::permitted(all, ~0u, yes), all);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(octet::permitted(all, ~0u, no), all & ~octet::kHasAmxInt8);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(octet::tiers_of(octet::permitted(all, ~0u, no)) & kTier, 0u);
}

TEST(Permission, IsNotAskedForWithoutUse) {
  const Features all = features_of(TierId::kAmxInt8);
  asked = 0;
  // The CPU has no tiles
  const Features less = features_of(TierId::kAvx512Vnni);
  EXPECT_EQ(octet::permitted(less, ~0u, no), less);
  // The tier is not built in, or a limit excludes it
  EXPECT_EQ(octet::permitted(all, ~kTier, yes), all & ~octet::kHasAmxInt8);
  EXPECT_EQ(octet::permitted(all, octet::tiers_within(TierId::kAvx512Vnni), yes),
            all & ~octet::kHasAmxInt8);
  EXPECT_EQ(octet::permitted(all, 0, yes), all & ~octet::kHasAmxInt8);
  // The tier needs more than the CPU has
  EXPECT_EQ(octet::permitted(octet::kHasAmxInt8, ~0u, yes), 0u);
  EXPECT_EQ(asked, 0);
}

// Refuses one system call with this error.
bool refuse_call(uint32_t call, int error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {sizeof filter / sizeof *filter, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(Permission, AFilterOfCallsRefuses) {
  EXPECT_EXIT(
      {
        if (!refuse_call(SYS_arch_prctl, EPERM)) std::_Exit(2);
        std::_Exit(octet::os::request_tiles());
      },
      testing::ExitedWithCode(0), "");
}

// The rest is in processes of their own, because the library looks at the machine once.

bool detects_the_tier() {
  octet_cpu_info info = OCTET_CPU_INFO_INIT;
  if (octet_get_cpu_info(&info, nullptr) != OCTET_OK) std::_Exit(2);
  return info.detected_isas & kTier;
}

class Emulated : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::getenv("OCTET_EMULATE")) GTEST_SKIP() << "OCTET_EMULATE names no tier";
  }
};

TEST_F(Emulated, TheTierIsThereWithPermission) {
  EXPECT_EXIT(std::_Exit(detects_the_tier()), testing::ExitedWithCode(1), "");
}

TEST_F(Emulated, TheTierIsNotThereWithoutPermission) {
  EXPECT_EXIT(
      {
        setenv("OCTET_EMULATE_REFUSAL", "1", 1);
        std::_Exit(detects_the_tier());
      },
      testing::ExitedWithCode(0), "");
}

// A limit at first use holds for the process.
TEST_F(Emulated, TheTierIsNotThereAfterALimit) {
  EXPECT_EXIT(
      {
        setenv("OCTET_MAX_ISA", octet::isa_name(TierId::kAvx512Vnni), 1);
        const bool limited = detects_the_tier();
        unsetenv("OCTET_MAX_ISA");
        std::_Exit(limited || detects_the_tier());
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace octet_test
