// SPDX-License-Identifier: Apache-2.0
// Hides and replaces instructions that other threads may run meanwhile.
#include "emulated_isa/patch.h"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "emulated_isa/decode.h"
#include "emulated_isa/stub.h"

namespace emulated_isa {
namespace {

constexpr uint8_t kHidden = 0x06;  // no instruction of 64-bit mode begins with it

// Signal handlers may take the lock, because its holder runs no instruction that traps.
class Lock {
 public:
  Lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~Lock() { flag_.clear(std::memory_order_release); }

 private:
  static inline std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

// The site's pages are writable for a scope.
class Writable {
 public:
  explicit Writable(const uint8_t* site) {
    const auto page = (uintptr_t)sysconf(_SC_PAGESIZE);
    begin_ = (uintptr_t)site / page * page;
    bytes_ = ((uintptr_t)site + kShortest - 1) / page * page + page - begin_;
    protect(PROT_READ | PROT_WRITE | PROT_EXEC);
  }
  ~Writable() { protect(PROT_READ | PROT_EXEC); }
  Writable(const Writable&) = delete;
  Writable& operator=(const Writable&) = delete;

 private:
  void protect(int protection) const {
    if (mprotect((void*)begin_, bytes_, protection) == 0) return;
    std::perror("emulated_isa: writable code");
    std::abort();
  }
  uintptr_t begin_, bytes_;
};

bool membarrier(int command) { return syscall(SYS_membarrier, command, 0) == 0; }

// When it returns, each thread of the process sees all code that was written before.
void synchronize() { membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE); }

}  // namespace

void prepare_patches() {
  if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE)) return;
  std::perror("emulated_isa: membarrier, Linux 4.16's");
  std::exit(EXIT_FAILURE);
}

bool hide(uint8_t* site) {
  Instruction instruction;
  if (site[0] != kVex || !decode(site, &instruction)) return false;
  const Writable writable(site);
  site[0] = kHidden;
  synchronize();
  return true;
}

bool replace(uint8_t* site) {
  const Lock lock;
  if (site[0] == (uint8_t)Branch::kJump) return true;  // another thread was faster
  Instruction instruction;
  if ((site[0] != kVex && site[0] != kHidden) || !decode(site, &instruction)) return false;
  const uint8_t* const stub = make_stub(instruction, site);
  if (!stub) return false;
  uint8_t jump[kShortest];
  write_branch(Branch::kJump, jump, site, stub);
  const Writable writable(site);
  site[0] = kHidden;
  synchronize();  // from here on other threads trap, and wait for the lock
  std::copy(jump + 1, jump + kShortest, site + 1);
  synchronize();
  site[0] = jump[0];
  return true;
}

}  // namespace emulated_isa
