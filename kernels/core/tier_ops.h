// What a tier does besides multiplying: plain loops, compiled once for each instruction set from
// kernels/simd.
#pragma once

#include "kernels/core/finish.h"
#include "kernels/core/init.h"
#include "kernels/core/lhs_rows.h"

namespace octet {

struct TierOps {
  InitFn init;
  FinishFn finish;
  RowSumFn sum_rows;
  QuantizeRowFn quantize_row;
  MeasureRowsFn measure_rows;
  QuantizeFloatsFn quantize_floats;
  CopyWindowsFn copy_windows;
  FindByteSumFn find_byte_sum =
      nullptr;  // where finish takes TFLite's ADD as a ByteSum, if there is one
};

}  // namespace octet
