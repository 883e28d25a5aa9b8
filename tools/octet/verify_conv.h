// SPDX-License-Identifier: Apache-2.0
// Checks every algorithm of convolution on every usable tier against the contract.
#pragma once

#include <string>

#include "tools/octet/commands.h"

namespace tool {

// Prints a table. kernel: checks this one only; empty: each tier's choice.
Verdicts verify_conv(const std::string& kernel);

}  // namespace tool
