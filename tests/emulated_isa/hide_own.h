// SPDX-License-Identifier: Apache-2.0
// Hides each emulated instruction of this program from a CPU that has it.
#pragma once

namespace emulated_isa {

// Call it before any of them runs. It needs objdump to find where instructions begin.
void hide_own();

}  // namespace emulated_isa
