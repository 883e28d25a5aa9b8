// Tells what the operating system says about the CPU, and keeps a thread on one.
#pragma once

#include <string>
#include <vector>

namespace tool {

std::string cpu_name();                   // "unknown" if it is not told
std::string cpu_model();                  // " (family 25, model 17)", or nothing
double memory_gib();                      // 0 if it is not told
std::vector<std::string> cpu_features();  // those that matter here, in the kernel's spelling
size_t cpu_count();                       // that this process may use
bool pin_to_current_cpu();                // false where the system has no such call

}  // namespace tool
