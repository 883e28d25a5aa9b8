// Lists a tier's operations besides multiplying: plain loops, compiled once per tier from
// kernels/generic.
#pragma once

#include "kernels/core/accumulator_init.h"
#include "kernels/core/epilogue.h"
#include "kernels/core/feature.h"
#include "kernels/core/lhs_rows.h"

namespace octet {

struct TierOps {
  InitFn init;
  EpilogueFn epilogue;
  RowSumFn sum_rows;
  QuantizeRowFn quantize_row;
  MeasureRowsFn measure_rows;
  FindEndsFn find_ends;
  QuantizeFloatsFn quantize_floats;
  CopyWindowsFn copy_windows;
  // Finds the TfliteAdd of an epilogue, if there is one; null if this epilogue takes none
  FindTfliteAddFn find_tflite_add = nullptr;
  bool tflite_right_rows = false;  // the epilogue and kernels take TfliteColumns::right_only
  // Epilogue::look_up for CPUs with these features beyond the tier's, or null
  LookUpFn look_up = nullptr;
  Features look_up_needs = 0;
};

}  // namespace octet
