// SPDX-License-Identifier: Apache-2.0
// Converts the command line's strings into the benches' options.
#pragma once

#include "bench/run/measure.h"
#include "tools/octet/commands.h"

namespace tool {

octet_sparsity parse_sparsity(const std::string& text);  // "" is none
// Throws Error where scale blocks are asked for (not 0) of types that have none.
void check_scale_block(size_t scale_block, const OperandTypes& types);

// Throws Error for modes of `operands` that only outputs of 8 bits have, where these are others.
void refuse_modes(const Operands& operands, const OperandTypes& types);

BenchOptions to_options(const BenchArguments& arguments);  // throws Error
void pin_if_single(const BenchOptions& options);           // one thread stays on its CPU

}  // namespace tool
