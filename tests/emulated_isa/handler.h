// Emulates instructions when they trap, for the whole process.
#pragma once

#include <cstddef>

namespace emulated_isa {

void install();

// How many instructions have trapped so far.
size_t traps();

}  // namespace emulated_isa
