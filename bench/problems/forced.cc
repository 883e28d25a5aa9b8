// SPDX-License-Identifier: Apache-2.0
// Sets OCTET_KERNEL while weights are packed for a kernel that is forced.
#include "bench/problems/forced.h"

#include <cstdlib>

namespace tool {
namespace {

// kernel: null for none.
void set_variable(const char* kernel) {
#if defined(_WIN32)
  _putenv_s("OCTET_KERNEL", kernel ? kernel : "");
#else
  kernel ? setenv("OCTET_KERNEL", kernel, 1) : unsetenv("OCTET_KERNEL");
#endif
}

}  // namespace

PackingFor::PackingFor(const Forced& forced) : forced_(forced) {
  if (!forced.kernel) return;
  if (const char* kernel = std::getenv("OCTET_KERNEL")) before_ = kernel;
  set_variable(forced.kernel);
}

PackingFor::~PackingFor() {
  if (forced_.kernel) set_variable(before_ ? before_->c_str() : nullptr);
}

}  // namespace tool
