// SPDX-License-Identifier: Apache-2.0
// Sets OCTET_KERNEL while weights are packed for a kernel that is forced.
#include "bench/problems/forced.h"

#include <cstdlib>

namespace tool {

PackingFor::PackingFor(const Forced& forced) : forced_(forced) {
  if (!forced.kernel) return;
  if (const char* kernel = std::getenv("OCTET_KERNEL")) before_ = kernel;
  setenv("OCTET_KERNEL", forced.kernel, 1);
}

PackingFor::~PackingFor() {
  if (!forced_.kernel) return;
  before_ ? setenv("OCTET_KERNEL", before_->c_str(), 1) : unsetenv("OCTET_KERNEL");
}

}  // namespace tool
