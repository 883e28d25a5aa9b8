// What a tier does besides multiplying: plain loops, compiled once for each instruction set from
// kernels/simd.
#pragma once

#include "kernels/core/accumulator_init.h"
#include "kernels/core/epilogue.h"
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
  // Where finish takes TFLite's ADD as a ByteSum, if there is one
  FindByteSumFn find_byte_sum = nullptr;
  bool tflite_right_rows = false;  // finish and kernels know TfliteColumns that are right_only
};

}  // namespace octet
