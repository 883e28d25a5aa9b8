// For CPUs that have what is emulated: each such instruction of this program is hidden from them.
#pragma once

namespace emulated_isa {

// To be called before any of them runs. Needs objdump, which knows where instructions begin.
void hide_own();

}  // namespace emulated_isa
