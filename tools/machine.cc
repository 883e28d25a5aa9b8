#include "machine.h"

#if defined(__linux__)
#include <sched.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#include <fstream>
#include <sstream>
#include <thread>

namespace tool {
namespace {

// The value of the first line "key : value" of /proc/cpuinfo, or nothing.
std::string cpuinfo_line(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (const size_t colon = line.find(':'); colon != std::string::npos && line.compare(0, key.size(), key) == 0)
      return colon + 2 <= line.size() ? line.substr(colon + 2) : "";
  return "";
}

bool matters(const std::string& feature) {
  for (const char* prefix : {"avx", "amx", "asimd", "i8mm", "sve", "sme", "fma"})
    if (feature.rfind(prefix, 0) == 0) return true;
  return false;
}

}  // namespace

std::string cpu_name() {
#if defined(__APPLE__)
  char name[256] = "";
  size_t bytes = sizeof name;
  if (sysctlbyname("machdep.cpu.brand_string", name, &bytes, nullptr, 0) == 0) return name;
#endif
  if (const std::string name = cpuinfo_line("model name"); !name.empty()) return name;
  const std::string implementer = cpuinfo_line("CPU implementer"), part = cpuinfo_line("CPU part");
  return part.empty() ? "unknown" : "implementer " + implementer + ", part " + part;
}

std::vector<std::string> cpu_features() {
  const std::string x86 = cpuinfo_line("flags");
  std::istringstream all(x86.empty() ? cpuinfo_line("Features") : x86);
  std::vector<std::string> features;
  for (std::string feature; all >> feature;)
    if (matters(feature)) features.push_back(feature);
  return features;
}

size_t cpu_count() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<size_t>(CPU_COUNT(&set));
#endif
  return std::thread::hardware_concurrency();
}

bool pin_to_current_cpu() {
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
#else
  return false;
#endif
}

}  // namespace tool
