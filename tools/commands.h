// The subcommands. Each adds itself to the command line; when it is chosen, it runs and sets the exit code.
#pragma once

#include <CLI/CLI.hpp>

namespace tool {

enum ExitCode { kSuccess = 0, kMismatch = 1, kFailure = 2 };

void add_info(CLI::App* app, int* exit_code);
void add_verify(CLI::App* app, int* exit_code);
void add_bench(CLI::App* app, int* exit_code);

}  // namespace tool
