// What a depthwise kernel is: each output channel reads one input channel. Like a MicroKernel, one constant value.
#pragma once

#include "kernels/core/finish.h"
#include "kernels/core/lhs_rows.h"
#include "kernels/core/micro_kernel.h"

namespace octet {

// Some output pixels side by side in one output line (several lines, if the kernel wants them), one block of channels.
struct DepthwiseTile;  // the depthwise family defines it
using DepthwiseFn = void (*)(const DepthwiseTile&);

struct DepthwiseKernel {
  const char* name;  // {isa}_{types}_dw...
  Isa isa;
  Domain lhs_domain;
  uint8_t flags;     // KernelFlags
  RhsLayout layout;  // of the packed weights
  DepthwiseFn multiply;
  FinishFn finish;
  const RowOps* row_ops;
};

}  // namespace octet
