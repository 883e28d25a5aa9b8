// Kernels that compute nothing and tell what the real ones would have read and written. Put in
// their place in a copy of a plan, they make of its run a walk: blocks, strips, passes, tiles,
// bands and copies are those of the code that runs.
#pragma once

#include "analysis/traffic/memory.h"
#include "kernels/core/assert.h"
#include "kernels/core/memory_trace.h"
#include "kernels/core/micro_kernel.h"
#include "kernels/core/tier_ops.h"

namespace octet {

// While one lives, this thread's watching kernels tell it. They are given tiles and nothing else,
// so there is no other place to keep it than the thread's.
class MemoryTrace {
 public:
  // kernel: that watched ones stand for, or null.
  MemoryTrace(octet_traffic* traffic, const MicroKernel* kernel);
  MemoryTrace(const MemoryTrace&) = delete;
  MemoryTrace& operator=(const MemoryTrace&) = delete;
  ~MemoryTrace();

  // Bytes that count. Others, as those of the stack, do not.
  void add(const void* first, size_t bytes, octet_operand operand);

  static MemoryTrace& current();
  const MicroKernel& kernel() const { return *kernel_; }
  void read(const void* at, size_t bytes) { touch(at, bytes, false); }
  void write(const void* at, size_t bytes) { touch(at, bytes, true); }
  void touch(const void* at, size_t bytes, bool write);

 private:
  struct Range {
    uintptr_t first;
    size_t bytes;
    octet_operand operand;
    bool has(const void* at) const { return (uintptr_t)at - first < bytes; }
  };
  static constexpr size_t kRanges = 8;

  octet_traffic* const traffic_;
  const MicroKernel* const kernel_;
  MemoryTrace* const before_;
  Range ranges_[kRanges];
  size_t count_ = 0, last_ = 0;
};

// Of the current watch.
void trace_touch(const void* at, size_t bytes, bool write);
MicroKernel traced(const MicroKernel& kernel);
TierOps traced(const TierOps& ops);

}  // namespace octet
