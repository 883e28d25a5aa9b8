// SPDX-License-Identifier: Apache-2.0
// Writes the machine code of stubs.
#include "emulated_isa/stub.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "emulated_isa/emulate.h"

namespace emulated_isa {
namespace {

// lea -128(%rsp), %rsp and lea 128(%rsp), %rsp
constexpr uint8_t kLeaveRedZone[] = {0x48, 0x8D, 0x64, 0x24, 0x80};
constexpr uint8_t kReturn[] = {0x48, 0x8D, 0xA4, 0x24, 0x80, 0x00, 0x00, 0x00};
constexpr size_t kBranch = 5;

struct Stub {
  uint8_t leave_red_zone[std::size(kLeaveRedZone)];
  uint8_t call[kBranch];  // of emulated_isa_enter
  uint8_t return_to_it[std::size(kReturn)];
  uint8_t jump[kBranch];  // behind the site
  Instruction instruction;
};

constexpr size_t kStubs = 8192, kPage = 4096;
alignas(kPage) Stub stubs[kStubs];
size_t used;

}  // namespace

// Stubs call this code, which saves the flags and all general and ymm registers, and calls
// emulated_isa_step. Wider vector registers lose their bits above ymm.
extern "C" __attribute__((naked)) void emulated_isa_enter() {
  __asm__(R"(
    pushfq
    .irp register, r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rsp, rbx, rdx, rcx, rax
    pushq %\register
    .endr
    leaq 272(%rsp), %rax        # the site's rsp: 16 registers, flags, return address, red zone
    movq %rax, 32(%rsp)
    movq 136(%rsp), %rdi        # return address
    movq %rsp, %rsi             # general registers
    movq %rsp, %rbp
    subq $512, %rsp
    andq $-32, %rsp
    movq %rsp, %rdx             # vectors
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    vmovdqa %ymm\n, 32 * \n(%rsp)
    .endr
    vzeroupper
    cld
    call emulated_isa_step
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    vmovdqa 32 * \n(%rsp), %ymm\n
    .endr
    movq %rbp, %rsp
    .irp register, rax, rcx, rdx, rbx
    popq %\register
    .endr
    leaq 8(%rsp), %rsp          # rsp itself
    .irp register, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
    popq %\register
    .endr
    popfq
    ret
  )");
}

extern "C" __attribute__((used)) void emulated_isa_step(const uint8_t* return_address,
                                                        const uint64_t* general, Vector* vectors) {
  const auto* stub = (const Stub*)(return_address - offsetof(Stub, return_to_it));
  emulate(stub->instruction, {general, vectors});
}

void write_branch(Branch branch, uint8_t* at, const uint8_t* from, const uint8_t* to) {
  const auto distance = (int32_t)(to - (from + kBranch));
  at[0] = (uint8_t)branch;
  std::memcpy(at + 1, &distance, sizeof distance);
}

void prepare_stubs() {
  if (mprotect(stubs, sizeof stubs, PROT_READ | PROT_WRITE | PROT_EXEC) == 0) return;
  std::perror("emulated_isa: executable memory");
  std::exit(EXIT_FAILURE);
}

const uint8_t* make_stub(const Instruction& instruction, const uint8_t* site) {
  if (used == kStubs) return nullptr;
  Stub* const stub = &stubs[used++];
  std::copy(std::begin(kLeaveRedZone), std::end(kLeaveRedZone), stub->leave_red_zone);
  const auto* enter = (const uint8_t*)emulated_isa_enter;
  write_branch(Branch::kCall, stub->call, stub->call, enter);
  std::copy(std::begin(kReturn), std::end(kReturn), stub->return_to_it);
  write_branch(Branch::kJump, stub->jump, stub->jump, site + instruction.length);
  stub->instruction = instruction;
  return stub->leave_red_zone;
}

}  // namespace emulated_isa
