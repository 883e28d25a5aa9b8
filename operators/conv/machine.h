// SPDX-License-Identifier: Apache-2.0
// The machine as convolutions may use it.
#pragma once

#include "dispatch/select/machine.h"

namespace octet {

// this_machine() minus the tiers that fail the convolution self-test. The test runs once, at the
// first convolution.
Machine conv_machine();

}  // namespace octet
