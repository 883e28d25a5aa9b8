// SPDX-License-Identifier: Apache-2.0
// The callback of the memory model (analysis/traffic): `bytes` at `at` are read or written.
#pragma once

#include <stddef.h>

namespace octet {

using MemoryTraceFn = void (*)(const void* at, size_t bytes, bool write);

}  // namespace octet
