// SPDX-License-Identifier: Apache-2.0
// Makes the stubs that patched sites jump to: they save the registers, call emulate and continue
// behind the site. The stubs lie in the program's own data, so a jump of 32 bits reaches them from
// its code.
#pragma once

#include <cstdint>

#include "emulated_isa/decode.h"

namespace emulated_isa {

// E9 or E8 and the distance from `from` to `to`: 5 bytes.
enum class Branch : uint8_t { kJump = 0xE9, kCall = 0xE8 };
void write_branch(Branch branch, uint8_t* at, const uint8_t* from, const uint8_t* to);

// Makes the stubs' memory executable. Call it once, first.
void prepare_stubs();

// Returns the stub of the instruction at `site`, or null if there is no room left.
const uint8_t* make_stub(const Instruction& instruction, const uint8_t* site);

}  // namespace emulated_isa
