// SPDX-License-Identifier: Apache-2.0
// MemoryTrace: kernels that compute nothing and trace the reads and writes of the real ones. They
// replace the kernels in a copy of a plan, so that its run becomes a walk: blocks, passes, tiles,
// bands and copies are those of the real code.
#pragma once

#include "analysis/traffic/memory.h"
#include "kernels/core/assert.h"
#include "kernels/core/memory_trace.h"
#include "kernels/core/micro_kernel.h"
#include "kernels/core/tier_ops.h"

namespace octet {

// While one exists, the tracing kernels of this thread report to it. A kernel gets nothing but its
// tile, so the trace is kept per thread.
class MemoryTrace {
 public:
  // kernel: the real kernel that is traced, or null.
  MemoryTrace(octet_traffic* traffic, const MicroKernel* kernel);
  MemoryTrace(const MemoryTrace&) = delete;
  MemoryTrace& operator=(const MemoryTrace&) = delete;
  ~MemoryTrace();

  // Adds a range whose accesses count. Accesses to other memory, such as the stack, are ignored.
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

// Reports to the current trace.
void trace_touch(const void* at, size_t bytes, bool write);
// Traces what an Epilogue::look_up reads and writes.
void trace_look_up(const uint8_t* lut, uint8_t* dst, size_t stride, size_t rows, size_t cols);
MicroKernel traced(const MicroKernel& kernel);
TierOps traced(const TierOps& ops);

}  // namespace octet
