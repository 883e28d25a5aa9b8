// SPDX-License-Identifier: Apache-2.0
// Looks through the process's modules, in the order in which they were loaded. Hosts load modules
// with names of their own, so that none sees the symbols of another one without asking for it.
#include "engines/threads/first_pool.h"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <vector>

namespace octet::engines {
namespace {

using Offer = const PoolFunctions*();

int add_name(dl_phdr_info* module, size_t, void* names) {
  try {
    ((std::vector<std::string>*)names)->emplace_back(module->dlpi_name ? module->dlpi_name : "");
    return 0;
  } catch (const std::bad_alloc&) {
    return 1;
  }
}

const PoolFunctions* find() {
  std::vector<std::string> names;
  if (dl_iterate_phdr(add_name, &names) != 0) return own_pool();
  for (const std::string& name : names) {
    void* const module = dlopen(name.empty() ? nullptr : name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (!module) continue;
    // The handle is kept: the pool's code must not be unloaded under those who use it.
    if (auto* const offer = (Offer*)dlsym(module, "octet_engines_pool_1")) return offer();
    dlclose(module);
  }
  return own_pool();
}

}  // namespace

const PoolFunctions* first_pool() {
  static const PoolFunctions* const found = find();
  return found;
}

}  // namespace octet::engines
