// The command line's words made into what the benches understand.
#pragma once

#include "commands.h"
#include "measure.h"

namespace tool {

BenchOptions to_options(const BenchArguments& arguments);  // throws what is wrong
void pin_if_single(const BenchOptions& options);           // one thread stays on its CPU

}  // namespace tool
