// The library in a test program sees a CPU that has what is emulated.
//
// OCTET_EMULATE=AVXVNNI in the environment: a CPU with AVX2, with AVX-VNNI, which is emulated, and
// with nothing newer, whatever this CPU has. Unset: this CPU.
#pragma once

#include "dispatch/cpu_features.h"

namespace octet_test {

// The tiers whose instructions are emulated.
octet::IsaMask emulated_isas();

}  // namespace octet_test
