// What a tier does besides multiplying: plain loops, compiled once for each instruction set from
// kernels/simd.
#pragma once

#include "kernels/core/accumulator_init.h"
#include "kernels/core/epilogue.h"
#include "kernels/core/lhs_rows.h"

namespace octet {

struct TierOps {
  InitFn init;
  EpilogueFn epilogue;
  RowSumFn sum_rows;
  QuantizeRowFn quantize_row;
  MeasureRowsFn measure_rows;
  QuantizeFloatsFn quantize_floats;
  CopyWindowsFn copy_windows;
  // Where finish takes TFLite's ADD as a TfliteAdd, if there is one
  FindTfliteAddFn find_tflite_add = nullptr;
  bool tflite_right_rows = false;  // finish and kernels know TfliteColumns that are right_only
};

}  // namespace octet
