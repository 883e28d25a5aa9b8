// SPDX-License-Identifier: Apache-2.0
// Reads /proc and /sys, and pins threads.
#include "bench/machine/machine.h"

#include <fmt/format.h>
#include <unistd.h>

#if defined(__linux__)
#include <sched.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace tool {
namespace {

// The value of the first line "key : value" of /proc/cpuinfo, or nothing.
std::string cpuinfo_line(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (const size_t colon = line.find(':');
        colon != std::string::npos && line.compare(0, key.size(), key) == 0)
      return colon + 2 <= line.size() ? line.substr(colon + 2) : "";
  return "";
}

// The words of a line that start with one of the prefixes.
std::vector<std::string> words(const std::string& line, const std::vector<std::string>& prefixes) {
  std::vector<std::string> found;
  std::istringstream all(line);
  for (std::string word; all >> word;)
    for (const std::string& prefix : prefixes)
      if (word.rfind(prefix, 0) == 0) {
        found.push_back(word);
        break;
      }
  return found;
}

}  // namespace

std::string cpu_name() {
#if defined(__APPLE__)
  char name[256] = "";
  size_t bytes = sizeof name;
  if (sysctlbyname("machdep.cpu.brand_string", name, &bytes, nullptr, 0) == 0) return name;
#endif
#if defined(_WIN32)
  if (const char* name = std::getenv("PROCESSOR_IDENTIFIER")) return name;
#endif
  if (const std::string name = cpuinfo_line("model name"); !name.empty()) return name;
  const std::string implementer = cpuinfo_line("CPU implementer"), part = cpuinfo_line("CPU part");
  return part.empty() ? "unknown" : "implementer " + implementer + ", part " + part;
}

// Virtual machines may report only the name of a series.
std::string cpu_model() {
  const std::string family = cpuinfo_line("cpu family"), model = cpuinfo_line("model");
  return family.empty() ? "" : fmt::format(" (family {}, model {})", family, model);
}

double memory_gib() {
#if defined(_SC_PHYS_PAGES)
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && bytes > 0) return (double)pages * (double)bytes / (1 << 30);
#endif
  return 0;
}

std::vector<std::string> cpu_features() {
  const std::string x86 = cpuinfo_line("flags");
  return x86.empty() ? words(cpuinfo_line("Features"), {"asimd", "i8mm", "sve", "sme"})
                     : words(x86, {"avx", "amx", "fma"});
}

size_t cpu_count() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return (size_t)CPU_COUNT(&set);
#endif
  return std::thread::hardware_concurrency();
}

bool pin_to_current_cpu() {
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)sched_getcpu(), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
#else
  return false;
#endif
}

}  // namespace tool
