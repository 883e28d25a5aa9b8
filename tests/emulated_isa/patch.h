// Changes the program's own code while it runs.
#pragma once

#include <cstdint>

namespace emulated_isa {

// To be called once, first.
void prepare_patches();

// Makes an instruction that is emulated one that no CPU has. For CPUs that have it.
// False: there is another instruction at `site`.
bool hide(uint8_t* site);

// Puts a jump to a stub in the place of an instruction, hidden or not. Other threads may be about
// to run it, or in here because of it. False: it is none that is emulated.
bool replace(uint8_t* site);

}  // namespace emulated_isa
