// SPDX-License-Identifier: Apache-2.0
// Reads the operating system's information about the CPU, and pins a thread to one.
#pragma once

#include <string>
#include <vector>

namespace tool {

std::string cpu_name();                   // "unknown" if the system has none
std::string cpu_model();                  // " (family 25, model 17)", or nothing
double memory_gib();                      // 0: unknown
std::vector<std::string> cpu_features();  // the relevant ones, in the kernel's spelling
size_t cpu_count();                       // usable by this process
bool pin_to_current_cpu();                // false if the system cannot

}  // namespace tool
