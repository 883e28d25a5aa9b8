#pragma once

#include "dispatch/select/machine.h"

namespace octet {

// As this_machine, less the tiers that failed the self-test of what only convolutions use. It is
// made at the first convolution.
Machine conv_machine();

}  // namespace octet
