// SPDX-License-Identifier: Apache-2.0
// The epilogue on x86 in vectors, where create has certified it, and the steps on bytes: TFLite's
// ADD and the look-up table.
#pragma once

#include "kernels/x86/shared/epilogue_f32.h"
#include "kernels/x86/shared/epilogue_float.h"
#include "kernels/x86/shared/look_up.h"
#include "kernels/x86/shared/requantize_tile.h"
#include "kernels/x86/shared/tflite_add.h"

namespace octet {
namespace {

void epilogue_tflite_rows(const Epilogue& f, const EpilogueTile& t) {
  Requantization requantization = requantization_of(f);
  const StoredTile tile = {
      t.rows,          t.cols,   t.acc,      t.acc_stride, f.tflite.rows + t.column,
      &requantization, t.to.dst, t.to.stride};
  if (!f.has_residual) return requantize_tflite(tile);
  const int32_t zero_point = f.intermediate_zero_point + (f.dst_type == ElementType::kU8 ? 0 : 128);
  requantization = {zero_point, zero_point + f.product_lo, zero_point + f.product_hi,
                    ElementType::kU8, f.tflite.apart};
  if (f.tflite_add)
    store_vectors<TfliteScaler<kEpilogueBytes>>(tile, Added<ShortSum>(f, t.to));
  else
    store_vectors<TfliteScaler<kEpilogueBytes>>(tile, Added<ExactSum>(f, t.to));
}

// Does the steps up to bytes. Returns false if it cannot.
bool epilogue_to_bytes(const Epilogue& f, const EpilogueTile& t) {
  if (f.mode == EpilogueMode::kFloat8 && !t.row_scale) {
    const Requantization requantization = requantization_of(f);
    if (f.has_residual)
      float_epilogue(f, t);
    else
      store_vectors<FloatScaler>(StoredTile{t.rows, t.cols, t.acc, t.acc_stride, f.scale + t.column,
                                            &requantization, t.to.dst, t.to.stride},
                                 AsTheyAre());
    return true;
  }
  if (f.mode == EpilogueMode::kDouble8) {
    const Requantization requantization = requantization_of(f);
    store_vectors<DoubleScaler>(StoredTile{t.rows, t.cols, t.acc, t.acc_stride, f.factor + t.column,
                                           &requantization, t.to.dst, t.to.stride},
                                AsTheyAre());
    return true;
  }
  if (f.mode != EpilogueMode::kTflite8 || !f.tflite.rows) return false;
  epilogue_tflite_rows(f, t);
  return true;
}

// Does the epilogue. Returns false, and writes nothing, if vectors cannot do it.
bool epilogue_by_vectors(const Epilogue& f, const EpilogueTile& t) {
  if (f.mode == EpilogueMode::kF32) {
    epilogue_f32_rows(f, t);
    return true;
  }
  if (!epilogue_to_bytes(f, t)) return false;
  f.finish_in_place(t.to.dst, t.to.stride, t.rows, t.cols);
  return true;
}

}  // namespace
}  // namespace octet
