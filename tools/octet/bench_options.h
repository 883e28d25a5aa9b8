// Converts the command line's strings into the benches' options.
#pragma once

#include "bench/run/measure.h"
#include "tools/octet/commands.h"

namespace tool {

octet_sparsity parse_sparsity(const std::string& text);  // "" is none

BenchOptions to_options(const BenchArguments& arguments);  // throws Error
void pin_if_single(const BenchOptions& options);           // one thread stays on its CPU

}  // namespace tool
