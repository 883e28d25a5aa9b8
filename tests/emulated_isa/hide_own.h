// Hides each emulated instruction of this program from a CPU that has it.
#pragma once

namespace emulated_isa {

// To be called before any of them runs. Needs objdump, which knows where instructions begin.
void hide_own();

}  // namespace emulated_isa
