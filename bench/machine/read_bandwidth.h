// SPDX-License-Identifier: Apache-2.0
// Measures how fast the threads of the pool can read a buffer again and again: from the cache or
// memory in which it fits.
#pragma once

#include "bench/machine/buffer.h"
#include "bench/machine/clock.h"
#include "bench/machine/thread_pool.h"

namespace tool {

double sample_read_bandwidth(const Buffer& buffer, ThreadPool* pool, const Clock& clock);  // GB/s

}  // namespace tool
