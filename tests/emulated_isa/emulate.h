// SPDX-License-Identifier: Apache-2.0
// Declares the function that computes an emulated instruction.
#pragma once

#include <cstdint>

#include "emulated_isa/decode.h"

namespace emulated_isa {

struct Vector {
  uint8_t bytes[32];
};

// The registers of the interrupted code. General registers by their number: rax, rcx, rdx, ...
struct Registers {
  const uint64_t* general;
  Vector* vector;
};

void emulate(const Instruction& instruction, const Registers& registers);

}  // namespace emulated_isa
