// SPDX-License-Identifier: Apache-2.0
// Changes the program's own code while it runs.
#pragma once

#include <cstdint>

namespace emulated_isa {

// Call it once, first.
void prepare_patches();

// Turns an emulated instruction into one that no CPU has, on CPUs that have it. False: `site` has
// another instruction.
bool hide(uint8_t* site);

// Puts a jump to a stub in the place of an instruction, hidden or not. Other threads may be about
// to run it, or be in this function because of it. False: it is not an emulated instruction.
bool replace(uint8_t* site);

}  // namespace emulated_isa
