// SPDX-License-Identifier: Apache-2.0
// Checks sandboxes that kill a process when it opens a file, and systems without /sys. The linker
// puts this file's open and sysconf in place of the C library's.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "octet/helpers.h"
#include "support/gemm_case.h"
#include "support/network_case.h"

#if defined(__linux__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

namespace {

int opened = 0;  // by the library, or by the C library for it
bool there_are_files = true;

}  // namespace

extern "C" {
int __real_open(const char* path, int flags, ...);
long __real_sysconf(int name);
int __wrap_open(const char* path, int flags, ...);
long __wrap_sysconf(int name);
}
int __wrap_open(const char* path, int flags, ...) {
  ++opened;
  if (!there_are_files) return errno = ENOENT, -1;
  va_list rest;
  va_start(rest, flags);
  const int file = __real_open(path, flags, va_arg(rest, unsigned));
  va_end(rest);
  return file;
}
long __wrap_sysconf(int name) {
  if (name == _SC_PAGESIZE) return __real_sysconf(name);  // the tests call this, too
  ++opened;
  return __real_sysconf(name);
}

namespace octet_test {
namespace {

octet_machine machine() {
  octet_machine m = OCTET_MACHINE_INIT;
  m.l2_bytes = 512 << 10, m.l3_bytes = 8 << 20;
  return m;
}

// Packs, creates and runs all objects for that machine, or for this one.
void use_everything(const octet_machine* machine) {
  NetworkCase c(7);
  c.machine = machine;
  size_t at = c.tensor(1, 12, 12, 16);
  at = c.conv(at, kernel3(32));
  at = c.conv(at, kernel3(32), at);
  at = c.gemm(at, 24);
  at = c.gemm(at, 10, true);
  c.keep_ends();
  const std::vector<Bytes> inputs = c.inputs(), expected = c.compute(inputs);
  const octet_network_desc desc = c.desc();
  octet_network* network = nullptr;
  octet_error error = {};
  ASSERT_EQ(octet_network_create(&desc, &network, &error), OCTET_OK) << error.message;
  octet_network_args args = OCTET_NETWORK_ARGS_INIT;
  ASSERT_EQ(octet_network_workspace(network, &args.workspace_bytes, &error), OCTET_OK);
  const Guarded workspace(args.workspace_bytes + 1, Side::kFront, OCTET_ALIGNMENT);
  std::vector<Guarded> memory;
  std::vector<void*> tensors;
  for (size_t i = 0; i < c.tensors.size(); ++i) {
    memory.emplace_back(expected[i].size() + 1, Side::kFront, OCTET_ALIGNMENT);
    std::copy(inputs[i].begin(), inputs[i].end(), memory.back().data());
    tensors.push_back(c.tensors[i].keep ? memory.back().data() : nullptr);
  }
  args.tensors = tensors.data(), args.workspace = workspace.data();
  EXPECT_EQ(octet_network_run(network, &args, &error), OCTET_OK) << error.message;
  EXPECT_EQ(Bytes(memory[at].data(), memory[at].data() + expected[at].size()), expected[at]);
  octet_network_destroy(network);
}

// Runs in a process of its own, because the library looks at the machine once per process. Returns
// the process's status.
template <typename Check>
int in_a_process(const Check& check) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    check();
    std::fflush(nullptr);
    std::_Exit(testing::Test::HasFailure());
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(Sandbox, WhereTheMachineIsGivenNoFileIsOpened) {
  EXPECT_EQ(in_a_process([] {
              const octet_machine given = machine();
              opened = 0;
              use_everything(&given);
              EXPECT_EQ(opened, 0);
            }),
            0);
}

TEST(Sandbox, NorByPackingAndQuantizing) {
  EXPECT_EQ(in_a_process([] {
              octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
              rhs.type = OCTET_S8, rhs.n = 40, rhs.k = 64;
              size_t bytes;
              opened = 0;
              EXPECT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
              rhs.sparsity = OCTET_SPARSE_2_4;
              EXPECT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
              const float from[4] = {1, -2, 3, 0};
              int8_t to[4];
              EXPECT_EQ(octet_quantize(from, 4, 0.5f, 0, OCTET_S8, to, nullptr), OCTET_OK);
              EXPECT_EQ(opened, 0);
            }),
            0);
}

// Shows that the counter above counts.
TEST(Sandbox, WhereItIsNotFilesAreReadOnce) {
  EXPECT_EQ(in_a_process([] {
              opened = 0;
              use_everything(nullptr);
              const int at_first = opened;
              EXPECT_EQ(at_first > 0, OCTET_READS_CPU_FILES);
              use_everything(nullptr);
              EXPECT_EQ(opened, at_first);
            }),
            0);
}

TEST(Sandbox, AllGoesWellWithoutFiles) {
  EXPECT_EQ(in_a_process([] {
              there_are_files = false;
              use_everything(nullptr);
              octet_cpu_info info = OCTET_CPU_INFO_INIT;
              octet_error error = {};
              EXPECT_EQ(octet_get_cpu_info(&info, &error), OCTET_OK) << error.message;
              EXPECT_EQ(info.demoted_isas, 0u);
            }),
            0);
}

#if defined(__linux__)

// From now on a file that opens kills this process. False if the system has no such filter.
bool kill_who_opens() {
  const auto kill_at = [](unsigned call, sock_filter(&to)[2]) {
    to[0] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
    to[1] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL);
  };
  sock_filter steps[8] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(seccomp_data, nr))};
  size_t count = 1;
  const auto add = [&](long call) {
    sock_filter two[2];
    kill_at((unsigned)call, two);
    steps[count++] = two[0], steps[count++] = two[1];
  };
  add(SYS_openat);
#if defined(SYS_open)
  add(SYS_open);
#endif
#if defined(SYS_openat2)
  add(SYS_openat2);
#endif
  steps[count++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog program = {(unsigned short)count, steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

constexpr int kNoFilter = 77;

TEST(Sandbox, WhoseFilterKillsWhoOpensAFile) {
  const int opens = in_a_process([] {
    if (!kill_who_opens()) std::_Exit(kNoFilter);
    close(__real_open("/dev/null", O_RDONLY, 0));
  });
  if (WIFEXITED(opens) && WEXITSTATUS(opens) == kNoFilter)
    GTEST_SKIP() << "this system, or its emulator, has no filters of system calls";
  EXPECT_TRUE(WIFSIGNALED(opens) && WTERMSIG(opens) == SIGSYS) << "the filter is none: " << opens;
  EXPECT_EQ(in_a_process([] {
              const octet_machine given = machine();
              if (!kill_who_opens()) std::_Exit(kNoFilter);
              use_everything(&given);
            }),
            0);
}

#endif

}  // namespace
}  // namespace octet_test
