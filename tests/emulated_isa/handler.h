// SPDX-License-Identifier: Apache-2.0
// Emulates instructions when they trap, for the whole process.
#pragma once

#include <cstddef>

namespace emulated_isa {

void install();

// The number of instructions that have trapped so far.
size_t traps();

}  // namespace emulated_isa
