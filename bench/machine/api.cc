// SPDX-License-Identifier: Apache-2.0
// Calls the C API and throws its errors.
#include "bench/machine/api.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tool {

void check(octet_status status, const octet_error& error) {
  if (status != OCTET_OK)
    throw LibraryError(status, fmt::format("{}: {}", octet_status_name(status), error.message));
}

octet_cpu_info cpu_info() {
  octet_cpu_info info = OCTET_INIT(octet_cpu_info);
  octet_error error = {};
  check(octet_get_cpu_info(&info, &error), error);
  return info;
}

std::vector<octet_kernel_info> kernels() {
  std::vector<octet_kernel_info> all;
  octet_kernel_info kernel = OCTET_INIT(octet_kernel_info);
  while (octet_get_kernel_info(all.size(), &kernel, nullptr) == OCTET_OK) all.push_back(kernel);
  return all;
}

octet_kernel_info usable_kernel(const std::string& name) {
  std::vector<std::string> usable;
  for (const octet_kernel_info& kernel : kernels()) {
    if (kernel.usable && name == kernel.name) return kernel;
    if (kernel.usable) usable.push_back(kernel.name);
    if (name == kernel.name) throw Error(fmt::format("this CPU cannot run the kernel '{}'", name));
  }
  throw Error(
      fmt::format("there is no kernel '{}'; usable here:\n  {}", name, fmt::join(usable, "\n  ")));
}

octet_isa any_tier(const std::string& name) {
  for (const octet_isa isa : tiers_of(UINT32_MAX))
    if (name == octet_isa_name(isa)) return isa;
  throw Error(fmt::format("there is no tier '{}': {}", name, names_of(UINT32_MAX)));
}

octet_isa usable_tier(const std::string& name) {
  const octet_isa isa = any_tier(name);
  const octet_cpu_info cpu = cpu_info();
  const uint32_t usable = cpu.detected_isas & ~cpu.demoted_isas;
  if (usable >> isa & 1) return isa;
  throw Error(
      fmt::format("this CPU cannot run the tier {}; usable here: {}", name, names_of(usable)));
}

octet_conv_algorithm algorithm(const std::string& name) {
  std::vector<const char*> names;
  for (const octet_conv_algorithm each : kAlgorithms) {
    if (name == octet_conv_algorithm_name(each)) return each;
    names.push_back(octet_conv_algorithm_name(each));
  }
  throw Error(
      fmt::format("there is no algorithm '{}'; there are: {}", name, fmt::join(names, ", ")));
}

std::vector<octet_isa> tiers_of(uint32_t isas) {
  std::vector<octet_isa> tiers;
  for (int i = OCTET_ISA_AUTO + 1; i < 32; ++i) {
    const octet_isa isa = (octet_isa)i;
    if (isas >> i & 1 && std::string(octet_isa_name(isa)) != "unknown") tiers.push_back(isa);
  }
  return tiers;
}

std::string names_of(uint32_t isas) {
  std::vector<const char*> names;
  for (const octet_isa isa : tiers_of(isas)) names.push_back(octet_isa_name(isa));
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, " "));
}

size_t type_bytes(octet_type type) {
  return type == OCTET_S16 ? 2 : type == OCTET_S8 || type == OCTET_U8 ? 1 : 4;
}

size_t blob_bytes(const void* blob, size_t memory_bytes) {
  octet_blob_info info = OCTET_BLOB_INFO_INIT;
  octet_error error = {};
  check(octet_blob_get_info(blob, memory_bytes, &info, &error), error);
  return info.bytes;
}

}  // namespace tool
