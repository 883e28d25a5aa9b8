// Declares what the emulated instructions do.
#pragma once

#include <cstdint>

#include "emulated_isa/decode.h"

namespace emulated_isa {

struct Vector {
  uint8_t bytes[32];
};

// As the code that is interrupted left them. General registers by their number: rax, rcx, rdx, ...
struct Registers {
  const uint64_t* general;
  Vector* vector;
};

void emulate(const Instruction& instruction, const Registers& registers);

}  // namespace emulated_isa
