// How fast the threads of the pool can read a buffer again and again: from whatever cache or memory
// it fits in.
#pragma once

#include "buffer.h"
#include "clock.h"
#include "thread_pool.h"

namespace tool {

double sample_read_bandwidth(const Buffer& buffer, ThreadPool* pool, const Clock& clock);  // GB/s

}  // namespace tool
