// SPDX-License-Identifier: Apache-2.0
// Handles SIGILL: the instruction that trapped becomes a jump to a stub that emulates it, or is
// emulated here if it is one of tile registers.
#include "emulated_isa/handler.h"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "emulated_isa/patch.h"
#include "emulated_isa/stub.h"
#include "emulated_isa/tiles.h"

namespace emulated_isa {
namespace {

std::atomic<size_t> trapped;

// A jump in place of the instruction runs when the handler returns.
void on_illegal_instruction(int, siginfo_t*, void* context) {
  trapped.fetch_add(1, std::memory_order_relaxed);
  auto* const interrupted = (ucontext_t*)context;
  if (emulate_tiles(interrupted)) return;
  if (replace((uint8_t*)interrupted->uc_mcontext.gregs[REG_RIP])) return;
  static constexpr char kText[] = "An illegal instruction, and none that is emulated.\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof kText - 1);
  signal(SIGILL, SIG_DFL);  // it traps again, and ends the process
}

}  // namespace

void install() {
  prepare_stubs();
  prepare_patches();
  struct sigaction action = {};
  action.sa_sigaction = on_illegal_instruction;
  action.sa_flags = SA_SIGINFO;
  if (sigaction(SIGILL, &action, nullptr) == 0) return;
  std::perror("emulated_isa: sigaction");
  std::exit(EXIT_FAILURE);
}

size_t traps() { return trapped.load(std::memory_order_relaxed); }

}  // namespace emulated_isa
