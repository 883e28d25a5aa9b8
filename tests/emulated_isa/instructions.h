// SPDX-License-Identifier: Apache-2.0
// Lists every form of every instruction that is emulated, as an assembler encodes it
// (instructions.S).
#pragma once

#include <cstdint>

namespace emulated_isa {

enum class Operand : int32_t { kRegister, kMemory, kRelative, kAbsolute };

struct InstructionForm {
  uint8_t* site;  // the instruction, and a return behind it
  int32_t operation, lanes, dst, lhs;
  Operand operand;
  int32_t rhs;                  // kRegister
  int32_t base, index, factor;  // kMemory: at base + index * factor + displacement; -1: none
  int32_t displacement;
};

extern "C" const InstructionForm emulated_isa_instructions[], emulated_isa_instructions_end[];
extern "C" const InstructionForm emulated_isa_race[], emulated_isa_race_end[];
extern "C" uint8_t emulated_isa_relative_operand[32];
constexpr uintptr_t kAbsoluteOperand = 0x20000000;

// The registers of a CPU before a form runs, or after.
struct State {
  uint8_t vector[16][32];
  uint64_t general[16];  // rsp: the form's stack; 24 bytes above it are the caller's
  uint64_t flags;
};

// Runs a form on the registers of `state`, and stores them back there.
extern "C" void emulated_isa_run(const uint8_t* site, State* state);

}  // namespace emulated_isa
