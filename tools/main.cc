// The octet command.
#include <fmt/format.h>

#include "api.h"
#include "commands.h"

int main(int argc, char** argv) {
  CLI::App app("INT8 GEMM with the same bytes on every CPU");
  app.name("octet");
  app.set_version_flag("--version", octet_version());
  app.require_subcommand(1);
  app.footer("Exit code: 0 success, 1 a wrong result, 2 an error.");
  int exit_code = tool::kSuccess;
  tool::add_info(&app, &exit_code);
  tool::add_verify(&app, &exit_code);
  tool::add_bench(&app, &exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? tool::kSuccess : tool::kFailure;
  } catch (const std::exception& error) {
    fmt::print(stderr, "octet: {}\n", error.what());
    return tool::kFailure;
  }
  return exit_code;
}
