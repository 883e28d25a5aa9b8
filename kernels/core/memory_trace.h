// What a model of memory (traffic/) is told: bytes that code reads or writes.
#pragma once

#include <stddef.h>

namespace octet {

using MemoryTraceFn = void (*)(const void* at, size_t bytes, bool write);

}  // namespace octet
