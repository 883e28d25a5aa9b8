// POSIX: memory and the clock.
#include <stdlib.h>
#include <time.h>

#include "dispatch/os/os.h"
#include "kernels/core/strict_float.h"

namespace octet::os {

void* allocate(size_t bytes, size_t alignment) {
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

void release(void* memory) { free(memory); }

double microseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

}  // namespace octet::os
