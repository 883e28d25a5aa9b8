// SPDX-License-Identifier: Apache-2.0
// Lists a tier's operations besides multiplying: plain loops, compiled once per tier from
// kernels/generic.
#pragma once

#include "kernels/core/accumulator_init.h"
#include "kernels/core/epilogue.h"
#include "kernels/core/feature.h"
#include "kernels/core/lhs_rows.h"
#include "kernels/core/s16.h"

namespace octet {

struct TierOps {
  InitFn init;
  EpilogueFn epilogue;
  RowSumFn sum_rows;
  QuantizeRowsFn quantize_rows;
  MeasureRowsFn measure_rows;
  FindEndsFn find_ends;
  QuantizeFloatsFn quantize_floats;
  CopyWindowsFn copy_windows;
  SplitS16Fn split_s16;
  FinishS16Fn finish_s16;
  // Finds the TfliteAdd of an epilogue, if there is one; null if this epilogue takes none
  FindTfliteAddFn find_tflite_add = nullptr;
  // Of the forms of TfliteColumns, the one that the epilogue and kernels take besides kAll; with
  // kFloats kFloatsUp, too
  TfliteForm tflite_form = TfliteForm::kAll;
  // Null, or whether this CPU takes the form; else it takes kAll only
  bool (*takes_tflite_form)() = nullptr;
  LookUpFn look_up = nullptr;  // Epilogue::look_up, or null
  // The same for CPUs with these features beyond the tier's, or null
  LookUpFn fast_look_up = nullptr;
  Features fast_look_up_needs = 0;

  TfliteForm tflite_form_here() const {
    return takes_tflite_form && !takes_tflite_form() ? TfliteForm::kAll : tflite_form;
  }
  LookUpFn look_up_for(Features has) const {
    return fast_look_up && !(fast_look_up_needs & ~has) ? fast_look_up : look_up;
  }
};

}  // namespace octet
