// SPDX-License-Identifier: Apache-2.0
// Finds the emulated instructions in a disassembly of this program, and hides them.
#include "emulated_isa/hide_own.h"

#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "emulated_isa/patch.h"

namespace emulated_isa {
namespace {

// The offset that the loader added to the addresses in the file.
uintptr_t load_offset() {
  uintptr_t offset = 0;
  const auto first = [](dl_phdr_info* program, size_t, void* to) {
    *(uintptr_t*)to = program->dlpi_addr;
    return 1;
  };
  dl_iterate_phdr(first, &offset);
  return offset;
}

}  // namespace

void hide_own() {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = "objdump --disassemble --no-show-raw-insn '" + program + "'";
  std::FILE* const listing = popen(command.c_str(), "r");
  size_t hidden = 0;
  char line[512];  // "  1a2b:", a tab, the instruction
  while (listing && std::fgets(line, sizeof line, listing)) {
    char* end;
    const uintptr_t address = std::strtoull(line, &end, 16);
    if (end == line || end[0] != ':' || !std::strstr(end, "vpdp")) continue;
    hidden += hide((uint8_t*)(load_offset() + address));
  }
  if (listing && pclose(listing) == 0 && hidden) return;
  std::fprintf(stderr, "emulated_isa: '%s' shows no instruction to hide\n", command.c_str());
  std::exit(EXIT_FAILURE);
}

}  // namespace emulated_isa
